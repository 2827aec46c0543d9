import { Budget } from '../../src/budget.js';
import { buildDataset } from '../../src/dataset/build.js';
import { assembleDataset, type Dataset } from '../../src/dataset/dataset.js';
import {
  type AcceptedPoint,
  appendToTail,
  createTail,
  type Tail,
  type TailMatches,
} from '../../src/dataset/tail.js';
import { renderPoint } from '../../src/model/point.js';
import type { Filters } from '../../src/model/query.js';
import { createEngine, type Engine } from '../../src/query/engine.js';
import { matchTail } from '../../src/query/tail.js';
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
export async function engineOf(notes: readonly Note[]): Promise<Engine> {
  const parts = await buildDataset(readerOf(notes));
  return createEngine(assembleDataset(parts));
}

/** Ids of the first `length` rows; those from the dataset's count on are rows of the tail. */
export function idsOf(
  { byId, count }: Dataset,
  rows: ArrayLike<number>,
  length: number,
  tail?: Tail,
): number[] {
  const idOf = (row: number): number =>
    row < count ? byId.keys[byId.ranks[row]!]! : tail!.id[row - count]!;
  return Array.from({ length }, (_, i) => idOf(rows[i]!));
}

/** These notes as accepted points, numbered from `first` on. */
export function acceptedOf(notes: readonly Note[], first = 1): AcceptedPoint[] {
  return notes.map((note, i) => {
    const point = pointOf(note);
    return { sequence: first + i, point, record: Buffer.from(renderPoint(point)) };
  });
}

/** A tail that has these notes, and room for no more. */
export function tailOf(notes: readonly Note[]): Tail {
  const points = acceptedOf(notes);
  const bytes = points.reduce((sum, { record }) => sum + record.length, 0);
  const tail = createTail({ rows: points.length, bytes });
  appendToTail(tail, points);
  return tail;
}

/**
 * A budget of `amount` that begins anew each time it is used up; adds up what it is charged.
 */
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

/**
 * The matches beside the generation among the rows below `length` of a tail; undefined where there
 * are none.
 */
export function acceptedMatches(
  tail: Tail,
  length: number,
  filters: Filters,
): TailMatches | undefined {
  const rows = matchTail(tail, filters, 0, length);
  return rows.length === 0 ? undefined : { tail, rows };
}
