import { setImmediate as turn } from 'node:timers/promises';
import type { DatasetParts } from '../index/dataset.js';
import {
  type AcceptedPoint,
  appendToDelta,
  createDelta,
  type Delta,
  type DeltaSize,
  deltaLength,
  hasRoom,
} from '../index/delta.js';
import { type Point, renderPoint } from '../model/point.js';
import type { MergeTask } from './merge.js';

/** A point as it was accepted. */
export interface Accepted {
  readonly sequence: number;
  readonly point: Point;
  /** The point's JSON, where it is rendered already. */
  readonly record?: string;
}

/** How long a first delta is worked on in a turn of the event loop: some 10 µs a point. */
const TURN_MS = 4;

/** The point as a delta takes it. */
export function accept({ sequence, point, record = renderPoint(point) }: Accepted): AcceptedPoint {
  return { sequence, point, record: Buffer.from(record) };
}

/**
 * Makes a delta that begins with some points and has room for `spare` besides; `base` is the sequence
 * up to which there are no others, and `baseTime` is when the last point behind them was accepted.
 * Other requests are answered in between.
 */
export async function makeFirstDelta(
  posts: readonly Accepted[],
  spare: DeltaSize,
  { base, baseTime }: Pick<Delta, 'base' | 'baseTime'>,
): Promise<Delta> {
  const points: AcceptedPoint[] = [];
  let { bytes } = spare;
  await inTurns(posts, (post) => {
    const point = accept(post);
    points.push(point);
    bytes += point.record.length;
  });
  const delta = createDelta({ rows: spare.rows + points.length, bytes });
  await inTurns(points, (point) => appendToDelta(delta, [point]));
  // the points themselves are not behind the base
  return { ...delta, base, baseTime };
}

/** Merges points into a dataset, as many at once as a delta of the size `most` takes. */
export async function mergePoints(
  given: DatasetParts,
  posts: readonly Accepted[],
  most: DeltaSize,
  merge: (task: MergeTask) => Promise<DatasetParts>,
): Promise<DatasetParts> {
  let dataset = given;
  let delta = createDelta(most);
  const mergeDelta = async (): Promise<void> => {
    dataset = await merge({ parts: dataset, delta, length: deltaLength(delta) });
  };
  await inTurns(posts, async (post) => {
    const accepted = accept(post);
    if (!hasRoom(delta, { rows: 1, bytes: accepted.record.length })) {
      await mergeDelta();
      delta = createDelta(most);
    }
    appendToDelta(delta, [accepted]);
  });
  await mergeDelta();
  return dataset;
}

async function inTurns<T>(
  items: readonly T[],
  work: (item: T) => void | Promise<void>,
): Promise<void> {
  let until = performance.now() + TURN_MS;
  for (const item of items) {
    const working = work(item);
    if (working !== undefined) await working;
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + TURN_MS;
  }
}
