import { RECORD_KEYS, type RecordKey } from '../model/point.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_CLOSE = 0x7d;

/** What each member begins with, in the order in which a record has them. */
const NAMES: readonly Uint8Array[] = RECORD_KEYS.map((key) => Buffer.from(`"${key}":`));

/**
 * Where the members of a record are: start and end of the member of each key, in the order of
 * `RECORD_KEYS`, counted from the record's start. Both are 0 where the record has no such key.
 */
export type MemberPlaces = Int32Array & { readonly brand?: 'member places' };

/** Makes room for the places of the members of a record. */
export function createMemberPlaces(): MemberPlaces {
  return new Int32Array(2 * RECORD_KEYS.length);
}

/** The number of a key, by which {@link MemberPlaces} has it. */
export function memberOf(key: RecordKey): number {
  return RECORD_KEYS.indexOf(key);
}

/** Where the value of a member begins, counted from the record's start. */
export function valueStart(places: MemberPlaces, member: number): number {
  return places[2 * member]! + NAMES[member]!.length;
}

/**
 * Finds the members of a record that is written as the API renders it, without parsing it: some
 * 0.4 µs for a record of 280 bytes. Of other bytes the places are anything within the record.
 */
export function findMembers(record: Uint8Array, places: MemberPlaces): void {
  const { length } = record;
  let at = 1;
  for (let member = 0; member < NAMES.length; member++) {
    const name = NAMES[member]!;
    if (!hasBytes(record, at, name)) {
      places[2 * member] = 0;
      places[2 * member + 1] = 0;
      continue;
    }
    const end = Math.min(endOfValue(record, at + name.length), length);
    places[2 * member] = at;
    places[2 * member + 1] = end;
    // a comma stands between two members
    at = end + 1;
  }
}

function hasBytes(record: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) if (record[at + i] !== expected[i]) return false;
  return true;
}

function endOfValue(record: Uint8Array, at: number): number {
  const first = record[at];
  if (first === QUOTE) return endOfText(record, at + 1);
  if (first === BRACKET_OPEN) return endOfTexts(record, at + 1);
  let end = at;
  while (end < record.length && record[end] !== COMMA && record[end] !== BRACE_CLOSE) end++;
  return end;
}

/** The place behind the closing quote of a text. */
function endOfText(record: Uint8Array, from: number): number {
  for (let at = from; at < record.length; at++) {
    const byte = record[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  return record.length;
}

/** The place behind the closing bracket of a list of texts. */
function endOfTexts(record: Uint8Array, from: number): number {
  let at = from;
  while (at < record.length && record[at] !== BRACKET_CLOSE) {
    at = record[at] === QUOTE ? endOfText(record, at + 1) : at + 1;
  }
  return at + 1;
}

/**
 * Copies some members of a record to `target` from `at` on, with commas between them; returns where
 * they end. `members` are numbers of keys, ascending.
 */
export function copyMembers(
  record: Uint8Array,
  places: MemberPlaces,
  members: readonly number[],
  target: Uint8Array,
  at: number,
): number {
  let end = at;
  for (let i = 0; i < members.length; i++) {
    const from = places[2 * members[i]!]!;
    if (from === 0) continue;
    let to = places[2 * members[i]! + 1]!;
    // neighbours are copied in one go, the commas between them included
    for (; i + 1 < members.length; i++) {
      const next = places[2 * members[i + 1]!]!;
      if (next !== 0 && next !== to + 1) break;
      if (next !== 0) to = places[2 * members[i + 1]! + 1]!;
    }
    if (end > at) target[end++] = COMMA;
    end = copyBytes(record, from, to, target, end);
  }
  return end;
}

/**
 * Copies bytes `from` to `to - 1`; returns where they end in `target`. Records are in shared
 * memory, where `set` would take longer for the few bytes of a member.
 */
export function copyBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  const move = at - from;
  for (let i = from; i < to; i++) target[i + move] = source[i]!;
  return to + move;
}
