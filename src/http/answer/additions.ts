import { lowerBound } from '../../dataset/order.js';
import { countLooks, type Tail, type TailMatches, type TailRow } from '../../dataset/tail.js';
import type { Generation } from '../../live/generation.js';
import type { Mark } from './head.js';

/** Finds the rows `from` to `to - 1` of a tail that belong to an answer, ascending. */
export type Accepted = (tail: Tail, from: TailRow, to: TailRow) => Int32Array;

/** Rows of a tail that all belong to an answer, as {@link Accepted} finds them. */
export function everyRow(from: TailRow, to: TailRow): Int32Array {
  return Int32Array.from({ length: to - from }, (_, i) => from + i);
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
}

/**
 * Names in a header that are looked at: each costs a look at the tail, and a header has hundreds.
 */
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
): TailMatches | undefined {
  if (length === tail.start) return undefined;
  countLooks(tail, length - tail.start);
  const rows = accepted(tail, tail.start, length);
  return rows.length === 0 ? undefined : { tail, rows };
}

/**
 * Names the last accepted point that belongs to an answer, or the last that is part of the
 * generation; undefined where there is neither. Answers that differ have different marks, since
 * what belongs to an answer is only ever added to.
 */
export function markOf({ tail }: TailState, additions: TailMatches | undefined): Mark | undefined {
  const row = additions?.rows.at(-1) ?? tail.start - 1;
  if (row < 0) return undefined;
  return { text: markText(tail, row), at: tail.createdAt[row]! / 1000 };
}

/** Names a generation with the rows of its tail below `length`: all that answers are made from. */
export function nameOfState({ tag, tail }: Generation, length: TailRow): string {
  return tail === undefined || length === 0 ? tag : tag + markText(tail, length - 1);
}

/** Whether no point that was added since belongs to an answer. Looks at each point once. */
export function isCovered(coverage: Coverage, { tail, length }: TailState): boolean {
  const from = coverage.seen - tail.offset;
  // the tail does not go back so far
  if (from < 0) return false;
  if (from >= length) return true;
  if (coverage.accepted(tail, from, length).length > 0) return false;
  coverage.seen = tail.offset + length;
  return true;
}

/**
 * Puts `snapshot`, which an answer names itself by, in the place of other names of the same answer
 * in a header: its client may have it since before points were accepted that do not belong to it,
 * or were folded in.
 */
export function renewNames(
  header: string,
  snapshot: string,
  accepted: Accepted,
  { tail, length }: TailState,
): string {
  const name = snapshot.slice(1, -1);
  let looks = MAX_LOOKS;
  return header.replaceAll(NAMED, (found, quote: string, tag: string, sequence, created) => {
    if (!name.startsWith(tag)) return found;
    const from = sequence === undefined ? -tail.offset : rowBehind(tail, length, sequence, created);
    if (from < 0 || looks-- <= 0) return found;
    return accepted(tail, from, length).length === 0 ? quote + name : found;
  });
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
