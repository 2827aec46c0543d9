import { buildDataset } from '../src/dataset/build.js';
import { tailLength } from '../src/dataset/tail.js';
import { mergeInThread } from '../src/live/merge.js';
import { openNative } from '../src/snapshot/native/read.js';
import { FULL_TAIL, fullTail } from './query/full-tail.js';
import { nativeFile, SEED } from './support/data.js';
import { plainCommand, positive, runMain } from './support/run.js';
import { digits, textTable } from './support/table.js';

const command = plainCommand('merge', 'Measures merges of accepted points into a generation.')
  .option('--points <number>', 'points of the generation', positive, 1_000_000)
  .option('--accepted <number>', 'points that are merged', positive, FULL_TAIL / 2)
  .option('--rounds <number>', 'how many merges', positive, 5);

/** Entry: seconds of the processor and of the clock that each merge takes, its thread included. */
async function main(): Promise<void> {
  const given = command.parse().opts<{ points: number; accepted: number; rounds: number }>();
  const reader = openNative(await nativeFile(given.points), {});
  const parts = await buildDataset(reader);
  reader.close();
  const tail = fullTail(parts.byId.keys.at(-1)!, given.accepted, SEED);
  const rows: string[][] = [];
  for (let round = 1; round <= given.rounds; round++) {
    const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
    await mergeInThread({ parts, tail, length: tailLength(tail) });
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    rows.push([String(round), digits((user + system) / 1e6), digits(seconds)]);
  }
  console.log(textTable(['merge', 'CPU s', 's'], rows));
}

await runMain(import.meta, main);
