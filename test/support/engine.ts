import { buildDataset } from '../../src/dataset/build.js';
import { assembleDataset, type Dataset } from '../../src/dataset/dataset.js';
import { createEngine, type Engine } from '../../src/query/engine.js';
import type { PointBlock } from '../../src/snapshot/block.js';
import type { LoadReport, SnapshotReader } from '../../src/snapshot/snapshot.js';
import { blockOf } from './native.js';
import { type Note, pointOf } from './notes.js';

/** A snapshot that is in memory already; blocks are small, so that builds join several. */
export function readerOf(notes: readonly Note[], blockPoints = 4_096): SnapshotReader {
  return {
    format: 'ndjson',
    async *blocks(): AsyncGenerator<PointBlock> {
      for (let from = 0; from < notes.length; from += blockPoints) {
        yield blockOf(notes.slice(from, from + blockPoints).map(pointOf));
      }
    },
    report: (): LoadReport => ({
      format: 'ndjson',
      points: notes.length,
      invalid: 0,
      problems: [],
      unknownKeys: {},
      notifications: [],
      page: undefined,
      digest: 'test',
      createdAt: 0,
    }),
    close() {},
  };
}

/** An engine over these notes, built as the service builds it. */
export async function engineOf(notes: readonly Note[], piece?: number): Promise<Engine> {
  const parts = await buildDataset(readerOf(notes));
  return createEngine(assembleDataset(parts), piece);
}

/** Ids of the first `length` rows. */
export function idsOf(dataset: Dataset, rows: ArrayLike<number>, length: number): number[] {
  const { keys, ranks } = dataset.byId;
  return Array.from({ length }, (_, i) => keys[ranks[rows[i]!]!]!);
}
