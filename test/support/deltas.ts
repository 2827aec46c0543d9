import { pino } from 'pino';
import { renderPoint } from '../../src/model/point.js';
import type { Accepted } from '../../src/reload/beginning.js';
import { Cell, type Generation } from '../../src/reload/current.js';
import { Deltas, type DeltasOptions } from '../../src/reload/deltas.js';
import { type Note, pointOf } from './notes.js';

export function postsOf(notes: readonly Note[], from: number, to: number): Accepted[] {
  return notes.slice(from, to).map((note, i) => ({ sequence: from + i, point: pointOf(note) }));
}

/** Deltas of a cell of its own; they are too large to be merged, but where `given` says otherwise. */
export function startDeltas(given: Partial<DeltasOptions> = {}): {
  current: Cell;
  deltas: Deltas;
  errors: readonly unknown[];
} {
  const current = new Cell();
  const errors: unknown[] = [];
  const logger = pino({}, { write: (line: string) => errors.push(JSON.parse(line)) });
  const deltas = new Deltas({ current, logger, ...given });
  return { current, deltas, errors };
}

/** Serves a generation with posts that wait. */
export async function serve(
  deltas: Deltas,
  generation: Generation,
  posts: readonly Accepted[],
): Promise<void> {
  const base = posts.at(-1)?.sequence ?? 0;
  const beginning = deltas.begin(generation);
  for (const post of posts) await beginning.add(post);
  return (await deltas.serve(beginning, base)).done;
}

/** Room for so many rows, half of which are merged. */
export function roomFor(rows: number): Partial<DeltasOptions> {
  return { capacity: { rows, bytes: 1_000_000 } };
}

/** Makes points visible beside a generation. */
export async function append(deltas: Deltas, posts: readonly Accepted[]): Promise<void> {
  const bytes = posts.reduce((sum, { point }) => sum + Buffer.byteLength(renderPoint(point)), 0);
  const room = await deltas.reserve(posts.length, bytes);
  if (room === undefined) throw new Error(`Expected room: ${deltas.state.problem}.`);
  deltas.append(posts);
  room.release();
}
