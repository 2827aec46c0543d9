import { exportEncoder } from '../../src/exports/encoders.js';
import { Export } from '../../src/exports/export-pieces.js';
import type { PointBlock } from '../../src/formats/block.js';
import { storePoint } from '../../src/formats/record-layout.js';
import type { LoadReport, SnapshotReader } from '../../src/formats/snapshot.js';
import type { ExportQuery } from '../../src/http/request/list-parameters.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import type { Dataset } from '../../src/index/dataset.js';
import {
  type AcceptedPoint,
  appendToDelta,
  createDelta,
  type Delta,
  type DeltaMatches,
  deltaLength,
} from '../../src/index/delta.js';
import { Budget } from '../../src/model/budget.js';
import { packUnseen } from '../../src/model/notification.js';
import type { Filters } from '../../src/model/query.js';
import { matchDelta } from '../../src/query/delta-match.js';
import type { Engine } from '../../src/query/engine.js';
import {
  createGeneration,
  type Generation,
  type GenerationParts,
} from '../../src/reload/current.js';
import type { Deltas } from '../../src/reload/deltas.js';
import { blockOf } from './native.js';
import { type Note, pointOf } from './notes.js';

/** A snapshot in memory; its blocks are small, so that builds join several. */
export function readerOf(notes: readonly Note[], blockPoints = 4_096): SnapshotReader {
  return readerOfBlocks(notes.length, blockPoints, (from, to) =>
    blockOf(notes.slice(from, to).map(pointOf)),
  );
}

/** A snapshot of `points` points; `make` makes those of a range. */
export function readerOfBlocks(
  points: number,
  blockPoints: number,
  make: (from: number, to: number) => PointBlock,
): SnapshotReader {
  return {
    format: 'ndjson',
    async *blocks(): AsyncGenerator<PointBlock> {
      for (let from = 0; from < points; from += blockPoints) {
        yield make(from, Math.min(from + blockPoints, points));
      }
    },
    report: (): LoadReport => ({
      format: 'ndjson',
      points,
      invalid: 0,
      problems: [],
      unknownKeys: {},
      notifications: [],
      digest: 'test',
      createdAt: 0,
    }),
    close() {},
  };
}

export async function engineOf(notes: readonly Note[]): Promise<Engine> {
  return (await generationOf(notes)).engine;
}

export async function generationOf(
  notes: readonly Note[],
  given: Partial<GenerationParts> = {},
): Promise<Generation> {
  const dataset = await buildDataset(readerOf(notes));
  return createGeneration({
    dataset,
    unseen: packUnseen([]),
    digest: 'test',
    loadedAt: 0,
    ...given,
  });
}

/** Ids of the first `length` rows; rows from the dataset's `count` on lie in the delta. */
export function idsOf(
  { byId, count }: Dataset,
  rows: ArrayLike<number>,
  length: number,
  delta?: Delta,
): number[] {
  const idOf = (row: number): number =>
    row < count ? byId.keys[byId.ranks[row]!]! : delta!.id[row - count]!;
  return Array.from({ length }, (_, i) => idOf(rows[i]!));
}

/** These notes as accepted points, with sequences from `first` on. */
export function acceptedOf(notes: readonly Note[], first = 1): AcceptedPoint[] {
  return notes.map((note, i) => {
    const point = pointOf(note);
    return { sequence: first + i, point, record: storePoint(point) };
  });
}

/** A delta that is full with these notes. */
export function deltaOf(notes: readonly Note[]): Delta {
  const points = acceptedOf(notes);
  const bytes = points.reduce((sum, { record }) => sum + record.length, 0);
  const delta = createDelta({ rows: points.length, bytes });
  appendToDelta(delta, points);
  return delta;
}

/** A budget that begins anew when it is used up; `cost` adds up all charges. */
export class Meter extends Budget {
  cost = 0;
  renewals = 0;

  constructor(amount: number) {
    super(amount, () => {
      this.renewals++;
    });
  }

  override charge(cost: number): void {
    this.cost += cost;
    super.charge(cost);
  }
}

export function acceptedMatches(
  delta: Delta,
  length: number,
  filters: Filters,
): DeltaMatches | undefined {
  const rows = matchDelta(delta, filters, 0, length);
  return rows.length === 0 ? undefined : { delta, rows };
}

export async function exportPieces(
  engine: Engine,
  format: string,
  {
    query = {},
    delta,
    length = delta === undefined ? 0 : deltaLength(delta),
    bytes = 2 ** 20,
    isGzipped = false,
  }: {
    readonly query?: Partial<ExportQuery>;
    readonly delta?: Delta;
    readonly length?: number;
    readonly bytes?: number;
    readonly isGzipped?: boolean;
  } = {},
): Promise<Buffer[]> {
  const all = { filters: {}, ordering: undefined, keys: undefined, ...query };
  const source = { engine, delta, length };
  const file = new Export(source, all, await exportEncoder(format), { isGzipped });
  const pieces: Buffer[] = [];
  for (let isLast = false; !isLast; ) {
    const piece = file.next(bytes);
    pieces.push(Buffer.from(piece.bytes));
    isLast = piece.isLast;
  }
  return pieces;
}

export function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes).toString().split('\n').slice(0, -1);
}

/** Serves a generation and `posts` as its delta. */
export async function serve(
  deltas: Deltas,
  generation: Generation,
  posts: readonly AcceptedPoint[],
): Promise<void> {
  const base = posts.at(-1)?.sequence ?? 0;
  const beginning = deltas.begin(generation.parts);
  for (const post of posts) await beginning.add(post);
  return (await deltas.serve(beginning, base)).done;
}

export async function append(deltas: Deltas, posts: readonly AcceptedPoint[]): Promise<void> {
  const bytes = posts.reduce((sum, { record }) => sum + record.length, 0);
  const release = await deltas.reserve(posts.length, bytes);
  if (release === undefined) throw new Error(`Expected room: ${deltas.state.problem}.`);
  deltas.append(posts);
  release();
}
