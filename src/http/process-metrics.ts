import { opendir } from 'node:fs/promises';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** What the library has of its own, and what takes longer the more connections are open. */
const LEFT_OUT = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);
const OPEN_FILES = 'process_open_fds';
const FOLDER = '/proc/self/fd';
/** Entries of the folder that are read in one piece. */
const PIECE = 256;

/** Registers the numbers of the process and of Node. */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT) registry.removeSingleMetric(name);
  if (registry.getSingleMetric(OPEN_FILES) === undefined) return;
  // the library's own lists the folder in one go, which takes long where thousands are open
  registry.removeSingleMetric(OPEN_FILES);
  new Gauge({
    name: OPEN_FILES,
    help: 'Open file descriptors.',
    registers: [registry],
    async collect() {
      const count = await countEntries(FOLDER).catch(() => undefined);
      // there may be none left to look with
      if (count !== undefined) this.set(count - 1);
    },
  });
}

async function countEntries(folder: string): Promise<number> {
  let count = 0;
  for await (const _ of await opendir(folder, { bufferSize: PIECE })) count++;
  return count;
}
