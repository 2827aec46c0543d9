import { NOBODY } from '../dataset/attributes.js';
import type { TailRow } from '../dataset/tail.js';
import type { TailAttributes } from '../dataset/tail-attributes.js';
import { bytesOf } from '../dataset/texts.js';
import { IMAGE, PROCESSED } from '../model/point-flags.js';
import type { Filters } from '../model/query.js';

/** Up to here texts are compared one by one, above they are looked up. */
const FEW_TEXTS = 8;

/** Whether a text is one of those that a filter names. */
type TextTest = (texts: Buffer, from: number, to: number) => boolean;

// nanoseconds
const FLAGS = 10; // flags and user of a row
const TEXT = 20; // a text that is looked for in a row
const TEXT_BYTE = 1; // and for each byte of the row's texts

/** Nanoseconds that {@link attributeTest} takes a row, on average over the rows up to `last`. */
export function attributeCost(
  { textEnds }: TailAttributes,
  { statuses, tags, tagsAll = [] }: Filters,
  last: TailRow,
): number {
  const texts = +(statuses !== undefined) + +(tags !== undefined) + tagsAll.length;
  return FLAGS + texts * (TEXT + (TEXT_BYTE * textEnds[last]!) / (last + 1));
}

/**
 * Makes a test of whether a row of a tail has the attributes that filters ask for; some 20 to 200
 * ns a row.
 */
export function attributeTest(
  { flags, createdBy, texts, textEnds }: TailAttributes,
  { statuses, isProcessed, tags, tagsAll, createdBy: users, hasImage }: Filters,
): (row: TailRow) => boolean {
  const mask = (isProcessed === undefined ? 0 : PROCESSED) | (hasImage === undefined ? 0 : IMAGE);
  const wanted = (isProcessed ? PROCESSED : 0) | (hasImage ? IMAGE : 0);
  const wantedUsers = users && new Set(users.map((user = NOBODY) => user));
  const isStatus = statuses && testOf(statuses);
  const areTags = [...(tags === undefined ? [] : [tags]), ...(tagsAll ?? []).map((tag) => [tag])];
  const tagTests = areTags.map(testOf);
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength);

  return (row) => {
    if ((flags[row]! & mask) !== wanted) return false;
    if (wantedUsers !== undefined && !wantedUsers.has(createdBy[row]!)) return false;
    if (isStatus === undefined && tagTests.length === 0) return true;
    const from = row === 0 ? 0 : textEnds[row - 1]!;
    const to = textEnds[row]!;
    const status = endOf(bytes, from, to);
    if (isStatus !== undefined && !isStatus(bytes, from, status)) return false;
    return tagTests.every((test) => hasTag(bytes, status, to, test));
  };
}

/** Whether one of the tags, each of which has a byte 0 before it, passes. */
function hasTag(texts: Buffer, from: number, to: number, test: TextTest): boolean {
  for (let start = from; start < to; ) {
    const end = endOf(texts, start + 1, to);
    if (test(texts, start + 1, end)) return true;
    start = end;
  }
  return false;
}

/** Where the text that begins at `from` ends: at a byte 0, or at `to`. */
function endOf(texts: Buffer, from: number, to: number): number {
  let end = from;
  while (end < to && texts[end] !== 0) end++;
  return end;
}

function testOf(wanted: readonly string[]): TextTest {
  const all = wanted.map(bytesOf);
  if (all.length > FEW_TEXTS) {
    const known = new Set(all.map((bytes) => Buffer.from(bytes).toString('latin1')));
    return (texts, from, to) => known.has(texts.toString('latin1', from, to));
  }
  return (texts, from, to) => all.some((bytes) => isEqual(bytes, texts, from, to));
}

function isEqual(bytes: Uint8Array, texts: Buffer, from: number, to: number): boolean {
  if (bytes.length !== to - from) return false;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== texts[from + i]) return false;
  return true;
}
