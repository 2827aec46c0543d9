import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { recordBytes } from '../../src/dataset/records.js';
import { Cell, type Current } from '../../src/live/current.js';
import type { Generation } from '../../src/live/generation.js';
import { buildGeneration } from '../../src/live/reload/build.js';
import { createReloader, type Reloader, type ReloadOptions } from '../../src/live/reload/reload.js';
import { markIn } from './marked.js';

/** A reloader over real files and the real build thread, and all that it told. */
export interface Reloading {
  readonly reloader: Reloader;
  readonly current: Current;
  /** What came of each file looked at, the first load included. */
  readonly outcomes: string[];
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** Builds begun, and the most that ran at once. */
  readonly builds: { begun: number; most: number };
  /** Mark and count of what is served. */
  served(): [mark: number, count: number];
  /** What was logged as an error. */
  errors(): string[];
}

type Given = Partial<Omit<ReloadOptions, 'path'>> & {
  /** Hears of each generation before it is served. */
  readonly onLoaded?: (generation: Generation) => void;
};

/** Starts a reloader of a path; options that are not given suit a test. */
export async function startReloading(
  path: string,
  { onLoaded = () => {}, ...given }: Given = {},
): Promise<Reloading> {
  const current = new Cell();
  await current.follow({ serve: async (generation) => onLoaded(generation), hear: () => {} });
  const outcomes: string[] = [];
  const logs: Record<string, unknown>[] = [];
  const builds = { begun: 0, most: 0 };
  let underWay = 0;
  const options: ReloadOptions = {
    current,
    path,
    companion: undefined,
    settleMs: 20,
    maxShrink: 0.5,
    stats: { count: (outcome) => void outcomes.push(outcome) },
    logger: pino({}, { write: (line: string) => logs.push(JSON.parse(line)) }),
    build: (task) => buildGeneration(task, { maxInvalid: 0, notifications: given.companion }),
    ...given,
  };
  const build: ReloadOptions['build'] = async (task, onProgress) => {
    builds.begun++;
    builds.most = Math.max(builds.most, ++underWay);
    try {
      return await options.build(task, onProgress);
    } finally {
      underWay--;
    }
  };
  const reloader = createReloader({ ...options, build });
  await reloader.load();
  return {
    reloader,
    current,
    outcomes,
    logs,
    builds,
    served() {
      const { dataset } = current.generation.engine;
      return [markIn(Buffer.from(recordBytes(dataset.records, 0)).toString()), dataset.count];
    },
    errors: () =>
      logs.filter((entry) => entry['level'] === 50).map((entry) => `${entry['reason']}`),
  };
}

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new folder, which is removed when the test process ends. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-live-'));
  folders.push(folder);
  return folder;
}
