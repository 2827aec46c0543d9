import { lowerBound } from '../../dataset/order.js';
import type { Tail, TailMatches, TailRow } from '../../dataset/tail.js';
import type { Generation } from '../../live/generation.js';
import type { Pieces } from '../formats/format.js';
import type { Mark } from './head.js';

/**
 * Finds the rows `from` to `to - 1` of a tail that belong to an answer, ascending: in pieces where
 * that takes long.
 */
export type Accepted = (tail: Tail, from: TailRow, to: TailRow) => Int32Array | Pieces<Int32Array>;

/** Rows of a tail that all belong to an answer, as {@link Accepted} finds them. */
export function everyRow(from: TailRow, to: TailRow): Int32Array {
  const rows = new Int32Array(to - from);
  for (let i = 0; i < rows.length; i++) rows[i] = from + i;
  return rows;
}

/** A tail at one moment: its rows below `length`. */
export interface TailState {
  readonly tail: Tail;
  readonly length: TailRow;
}

/** What of the accepted points an answer was made with. */
export interface Coverage {
  readonly accepted: Accepted;
  /** How many points had been added to the snapshot. */
  seen: number;
  /** How many of them had come before the {@link lastOf} the answer. */
  readonly last: number;
}

/** Names in a header that are looked at: a header has room for hundreds. */
const MAX_LOOKS = 8;

/** A snapshot in an entity tag or by its own name, and behind it the mark of an accepted point. */
const NAMED = /("|^\s*)([0-9a-f]{16})(?:\.([0-9a-z]+)\.([0-9a-z]+))?(?=[-"\s]|$)/g;

/**
 * The accepted points that belong to an answer and are not part of the generation; undefined where
 * there are none.
 */
export function additionsTo(
  accepted: Accepted,
  { tail, length }: TailState,
): TailMatches | undefined | Pieces<TailMatches | undefined> {
  if (length === tail.start) return undefined;
  const rows = accepted(tail, tail.start, length);
  return rows instanceof Int32Array ? matchesOf(tail, rows) : additionsIn(tail, rows);
}

function* additionsIn(tail: Tail, rows: Pieces<Int32Array>): Pieces<TailMatches | undefined> {
  return matchesOf(tail, yield* rows);
}

function matchesOf(tail: Tail, rows: Int32Array): TailMatches | undefined {
  return rows.length === 0 ? undefined : { tail, rows };
}

/**
 * The row of the last accepted point that belongs to an answer, or of the last that is part of the
 * generation; -1 where there is neither.
 */
export function lastOf({ tail }: TailState, additions: TailMatches | undefined): TailRow {
  return additions?.rows.at(-1) ?? tail.start - 1;
}

/**
 * Names the point at the {@link lastOf} an answer; undefined where there is none. Answers that
 * differ have different marks, since what belongs to an answer is only ever added to.
 */
export function markOf({ tail }: TailState, row: TailRow): Mark | undefined {
  if (row < 0) return undefined;
  return { text: markText(tail, row), at: tail.createdAt[row]! / 1000 };
}

/** Names a generation with the rows of its tail below `length`: all that answers are made from. */
export function nameOfState({ tag, tail }: Generation, length: TailRow): string {
  return tail === undefined || length === 0 ? tag : tag + markText(tail, length - 1);
}

/**
 * Whether no point that was added since belongs to an answer. Looks at each point once, for one
 * piece of work at most: what takes longer counts as not covered.
 */
export function isCovered(coverage: Coverage, { tail, length }: TailState): boolean {
  const from = coverage.seen - tail.offset;
  // the tail does not go back so far
  if (from < 0) return false;
  if (from >= length) return true;
  const rows = soon(coverage.accepted(tail, from, length));
  if (rows === undefined || rows.length > 0) return false;
  coverage.seen = tail.offset + length;
  return true;
}

/**
 * Puts `snapshot`, which an answer names itself by, in the place of other names of the same answer
 * in a header: its client may have it since before points were accepted that do not belong to it,
 * or were folded in. `last` is the {@link lastOf} the answer, behind which no row belongs to it.
 * What is looked at beside it is part of the generation, each row once; a name for which that takes
 * more than a piece of work stays as it is.
 */
export function renewNames(
  header: string,
  snapshot: string,
  accepted: Accepted,
  last: TailRow,
  { tail, length }: TailState,
): string {
  const name = snapshot.slice(1, -1);
  const isSame = createComparison(accepted, tail, last);
  let looks = MAX_LOOKS;
  return header.replaceAll(NAMED, (found, quote: string, tag: string, sequence, created) => {
    if (!name.startsWith(tag)) return found;
    const from = sequence === undefined ? -tail.offset : rowBehind(tail, length, sequence, created);
    if (from < 0 || looks-- <= 0) return found;
    return isSame(from) ? quote + name : found;
  });
}

/** Makes a test of whether no row from one to `last` belongs to an answer. */
function createComparison(
  accepted: Accepted,
  tail: Tail,
  last: TailRow,
): (from: TailRow) => boolean {
  // none of the rows from `free` on belongs to the answer, and the one before it may
  let free = last + 1;
  let belongs = -1;
  const look = (from: TailRow): void => {
    const rows = soon(accepted(tail, from, free));
    // what takes too long counts as if all belonged to it
    const row = rows === undefined ? free - 1 : rows.at(-1);
    belongs = row ?? belongs;
    free = row === undefined ? from : row + 1;
  };
  return (from) => {
    // mostly the last row settles it
    if (from < free && belongs < 0) look(free - 1);
    if (from < free && belongs < 0) look(from);
    return from >= free;
  };
}

/** What one piece of work finds; undefined where it does not come to the end. */
function soon(rows: Int32Array | Pieces<Int32Array>): Int32Array | undefined {
  if (rows instanceof Int32Array) return rows;
  const { done, value } = rows.next();
  return done ? value : undefined;
}

/** The row behind the one that a mark names; below zero where the tail does not have it. */
function rowBehind(tail: Tail, length: TailRow, sequence: string, created: string): number {
  const row = lowerBound(tail.sequence.subarray(0, length), Number.parseInt(sequence, 36));
  const isIt =
    row < length &&
    tail.sequence[row]!.toString(36) === sequence &&
    createdText(tail, row) === created;
  return isIt ? row + 1 : -1;
}

function markText(tail: Tail, row: TailRow): string {
  return `.${tail.sequence[row]!.toString(36)}.${createdText(tail, row)}`;
}

function createdText({ createdAt }: Tail, row: TailRow): string {
  return Math.abs(createdAt[row]!).toString(36);
}
