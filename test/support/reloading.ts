import { readdirSync } from 'node:fs';
import { pino } from 'pino';
import * as assert from 'uvu/assert';
import { rendered } from '../../src/formats/record-layout.js';
import { stretchOf } from '../../src/index/records.js';
import { type Build, type BuildResult, createBuilder } from '../../src/reload/build.js';
import { run } from '../../src/reload/build-thread.js';
import { Cell, type Current, createGeneration, type Generation } from '../../src/reload/current.js';
import { type Order, Reloader, type ReloadOptions } from '../../src/reload/reload.js';
import { openAddressSource } from '../../src/reload/source/address.js';
import { openLocalSource } from '../../src/reload/source/local.js';
import type { Source } from '../../src/reload/source/source.js';
import { closeLater, makeFile, makeFolder } from './folder.js';
import { countOf, markedLines, markIn, replaceFile } from './marked.js';

/** A reloader of real files and builds, and what it reported. */
export interface Reloading {
  readonly reloader: Reloader;
  readonly current: Current;
  end(): Promise<void>;
  readonly path: string;
  /** Looks at the file; resolves when the reloader has nothing left to do. */
  look(order?: Order): Promise<void>;
  /** Looks, and asserts that the whole snapshot of this mark is served then. */
  lookFor(mark: number): Promise<void>;
  /** Replaces the file by a marked snapshot or other content, and looks. */
  put(content: number | string | Uint8Array): Promise<void>;
  /** The outcome of each look, the first load included. */
  readonly outcomes: string[];
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** File events that led to a look. */
  readonly events: { heard: number };
  readonly builds: { begun: number; most: number };
  served(): [mark: number, count: number];
  errors(): string[];
}

/** Long, so that only file events start looks. */
const NEVER_MS = 600_000;

interface Given extends Partial<Omit<ReloadOptions, 'current' | 'source' | 'build' | 'stats'>> {
  /** A file or a folder; by default a marked snapshot in a new folder. */
  readonly path?: string;
  /** A file that is read with every snapshot. */
  readonly companion?: string;
  /** Whether each build runs in a thread, as in a service; a thread takes 0.3 s of CPU. */
  readonly inThread?: boolean;
  /** Replaces `path`. */
  readonly source?: Source;
  /** Wraps the real builder. */
  readonly build?: (real: Build, ...given: Parameters<Build>) => Promise<BuildResult>;
  /** Called with each generation before it is served. */
  readonly onLoaded?: (generation: Generation) => void;
  /** Whether file events, and nothing else, start looks. */
  readonly events?: boolean;
}

export async function startReloading(given: Given = {}): Promise<Reloading> {
  const { path = makeFile(markedLines(1)), companion, build, ...others } = given;
  const { inThread = false, events = false, onLoaded = () => {}, ...options } = others;
  const outcomes: string[] = [];
  const logs: Record<string, unknown>[] = [];
  const builds = { begun: 0, most: 0 };
  let underWay = 0;
  const current = new Cell();
  await current.follow({ serve: async (generation) => onLoaded(generation), hear: () => {} });
  const logger = pino({}, { write: (line: string) => logs.push(JSON.parse(line)) });
  const mode = events ? 'events' : 'off';
  const watching = { mode, pollMs: NEVER_MS, safetyMs: NEVER_MS } as const;
  const source = given.source ?? (await openLocalSource({ path, companion, ...watching }, logger));
  const settings = { maxInvalid: 0, notifications: companion };
  const real = createBuilder(settings, inThread ? undefined : run);
  const reloader = new Reloader({
    settleMs: 20,
    maxShrink: 0.5,
    allowEmpty: false,
    ...options,
    current,
    serve: (parts) => current.publish(createGeneration(parts)),
    source,
    async build(...task) {
      builds.begun++;
      builds.most = Math.max(builds.most, ++underWay);
      try {
        return await (build === undefined ? real(...task) : build(real, ...task));
      } finally {
        underWay--;
      }
    },
    stats: { count: (outcome) => void outcomes.push(outcome) },
    logger,
  });
  await reloader.load();
  const eventCounts = { heard: 0 };
  const unwatch = source.watch(() => {
    eventCounts.heard++;
    return reloader.look();
  });
  const end = async (): Promise<void> => {
    reloader.close();
    await unwatch();
  };
  closeLater(end);
  const served = (): [mark: number, count: number] => {
    const { dataset } = current.generation.engine;
    return [markIn(rendered(stretchOf(dataset.records, 0, 1)[0]!).toString()), dataset.count];
  };
  return {
    reloader,
    end,
    path,
    look: (order) => reloader.look(order),
    async lookFor(mark) {
      await reloader.look();
      assert.equal(served(), [mark, countOf(mark)]);
    },
    put(content) {
      replaceFile(path, typeof content === 'number' ? markedLines(content) : content);
      return reloader.look();
    },
    current,
    outcomes,
    logs,
    events: eventCounts,
    builds,
    served,
    errors: () =>
      logs.filter((entry) => entry['level'] === 50).map((entry) => `${entry['reason']}`),
  };
}

/** A reloader of what an address has, which leaves no downloads. */
export async function startDownloading(
  address: string,
  idleMs = 60_000,
  retryMs = 50,
): Promise<Reloading & { readonly folder: string }> {
  const folder = makeFolder();
  const source = await openAddressSource({ address, folder, mode: 'off', pollMs: 0, idleMs });
  const reloading = await startReloading({ source, retryMs });
  closeLater(async () => {
    await reloading.end();
    assert.equal(readdirSync(folder), [], 'downloads are removed');
  });
  return { ...reloading, folder };
}
