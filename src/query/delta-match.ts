import type { Delta, DeltaRow } from '../index/delta.js';
import { bytesOf, endBefore, NOBODY } from '../index/postings.js';
import { Budget, inStretches } from '../model/budget.js';
import type { Box, Filters, TimeWindow } from '../model/query.js';
import { IMAGE, PROCESSED } from '../model/units.js';
import { chargeOf } from './attribute-match.js';
import { haveAttributes } from './common/attribute-rows.js';
import { regionOf } from './region/region.js';

const EVERYWHERE: Box = { west: -180, south: -90, east: 180, north: 90 };
const ALWAYS: TimeWindow = { after: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };

// nanoseconds a row
const FRAME_TEST = 4; // two comparisons at most
const WINDOW_TEST = 8; // two comparisons, mispredicted where times are unsorted
const REGION_TEST = 30; // a polygon or a circle

/** Rows that are tested between two charges: in a polygon each may take 40 µs. */
const MEASURED_ROWS = 16;

/**
 * Finds those of rows `from` to `to - 1` of a delta that satisfy the filters, ascending. Each row
 * is looked at; most lie outside of the region's frame, and only the others are tested further.
 */
export function matchDelta(
  delta: Delta,
  filters: Filters,
  from: DeltaRow,
  to: DeltaRow,
  budget: Budget = new Budget(),
): Int32Array {
  const { coords } = delta;
  const region = regionOf(filters);
  const found = new Int32Array(to - from);
  let framed = 0;
  const windows = +(filters.createdAt !== undefined) + +(filters.modifiedAt !== undefined);
  inStretches(budget, from, to, FRAME_TEST + windows * WINDOW_TEST, (first, last) => {
    framed = listFramed(delta, region?.frame ?? EVERYWHERE, filters, found, framed, first, last);
  });

  const isTested = framed > 0 && haveAttributes(filters);
  const hasAttributes = isTested ? attributeTest(delta, filters) : undefined;
  if (framed === 0 || (region === undefined && hasAttributes === undefined)) {
    return found.subarray(0, framed);
  }
  const charge = chargeOf(budget, region);
  let count = 0;
  const keepMatches = (first: number, last: number): void => {
    for (let i = first; i < last; i++) {
      const row = found[i]!;
      if (hasAttributes !== undefined && !hasAttributes(row)) continue;
      if (region === undefined || region.contains(coords, row)) found[count++] = row;
    }
    charge();
  };
  const cost =
    (region === undefined ? 0 : REGION_TEST) +
    (hasAttributes === undefined ? 0 : attributeCost(delta, filters, found[framed - 1]!));
  inStretches(budget, 0, framed, cost, keepMatches, MEASURED_ROWS);
  return found.subarray(0, count);
}

/**
 * Writes those of rows `first` to `last - 1` that lie in a frame and in the filters' windows to
 * `found` from `at` on; returns where they end.
 */
function listFramed(
  { coords, createdAt, modifiedAt }: Delta,
  { west, south, east, north }: Box,
  { createdAt: created = ALWAYS, modifiedAt: modified = ALWAYS }: Filters,
  found: Int32Array,
  at: number,
  first: DeltaRow,
  last: DeltaRow,
): number {
  const { after: createdFrom, before: createdTo } = created;
  const { after: modifiedFrom, before: modifiedTo } = modified;
  let end = at;
  for (let row: number = first; row < last; row++) {
    const lon = coords[2 * row]!;
    const lat = coords[2 * row + 1]!;
    // negative outside; of four comparisons, which one says no could not be predicted
    if ((lon - west) * (east - lon) < 0 || (lat - south) * (north - lat) < 0) continue;
    if (createdAt[row]! < createdFrom || createdAt[row]! > createdTo) continue;
    if (modifiedAt[row]! < modifiedFrom || modifiedAt[row]! > modifiedTo) continue;
    found[end++] = row;
  }
  return end;
}

/** Up to `FEW_TEXTS` texts of a filter are compared one by one, more are looked up. */
const FEW_TEXTS = 8;

/** Whether the text `from` to `to - 1` is one that a filter names. */
type TextTest = (texts: Buffer, from: number, to: number) => boolean;

// nanoseconds
const FLAGS = 10; // flags and user of a row
const TEXT = 20; // a text that is looked for in a row
const TEXT_BYTE = 1; // and each byte of the row's texts

/** Mean nanoseconds of an {@link attributeTest} of the rows up to `last`. */
function attributeCost(
  { textEnds }: Delta,
  { statuses, tags, tagsAll = [] }: Filters,
  last: DeltaRow,
): number {
  const texts = +(statuses !== undefined) + +(tags !== undefined) + tagsAll.length;
  return FLAGS + texts * (TEXT + (TEXT_BYTE * textEnds[last]!) / (last + 1));
}

function attributeTest(
  { flags, createdBy, texts, textEnds }: Delta,
  { statuses, isProcessed, tags, tagsAll, createdBy: users, hasImage }: Filters,
): (row: DeltaRow) => boolean {
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
    const from = endBefore(textEnds, row);
    const to = textEnds[row]!;
    const status = endOf(bytes, from, to);
    if (isStatus !== undefined && !isStatus(bytes, from, status)) return false;
    return tagTests.every((test) => hasTag(bytes, status, to, test));
  };
}

/** Whether one of the tags, each behind a byte 0, passes. */
function hasTag(texts: Buffer, from: number, to: number, test: TextTest): boolean {
  for (let start = from; start < to; ) {
    const end = endOf(texts, start + 1, to);
    if (test(texts, start + 1, end)) return true;
    start = end;
  }
  return false;
}

/** The end of the text that begins at `from`: at a byte 0, or at `to`. */
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
