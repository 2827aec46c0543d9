import { RECORD_KEYS, type RecordKey } from '../model/point.js';
import { CANONICAL_BYTES } from '../model/timestamp.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_B = 0x62;
const LETTER_I = 0x69;
const LETTER_T = 0x74;

/** A view and a call of `set` take as long as copying this many bytes one by one. */
const LEAST_SET = 64;

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

const STATUS = memberOf('status');
const COMMENT = memberOf('comment');
const IMAGE = memberOf('image');
const LAT = memberOf('lat');
const LON = memberOf('lon');
const IS_PROCESSED = memberOf('is_processed');
const CREATED_BY = memberOf('created_by');
const TAGS = memberOf('tags');
const CREATED_AT = memberOf('created_at');
const MODIFIED_AT = memberOf('modified_at');

/** Where the value of a member begins, counted from the record's start. */
export function valueStart(places: MemberPlaces, member: number): number {
  return places[2 * member]! + NAMES[member]!.length;
}

/**
 * Finds the members of a record that is written as the API renders it, without parsing it: texts
 * are looked through for their last quote, everything else is skipped. Of other bytes the places
 * are anything within the record.
 */
export function findMembers(record: Uint8Array, places: MemberPlaces): void {
  const { length } = record;
  let at = 1;
  for (let member = 0; member < NAMES.length; member++) {
    let end = 0;
    if (isPresent(record, at, member)) {
      const value = at + NAMES[member]!.length;
      end = Math.min(endOfValue(record, value, member), length);
    }
    places[2 * member] = end === 0 ? 0 : Math.min(at, end);
    places[2 * member + 1] = end;
    // a comma stands between two members
    if (end !== 0) at = end + 1;
  }
}

/**
 * Whether the member that begins at `at` is this one: it is, or a later one, or there are no more.
 */
function isPresent(record: Uint8Array, at: number, member: number): boolean {
  switch (member) {
    case IMAGE:
      // or `lat`
      return record[at + 1] === LETTER_I;
    case CREATED_BY:
      // or `tags`, whose first one may begin with that letter, or `created_at`
      return record[at + 1] !== LETTER_T && record[at + 9] === LETTER_B;
    case TAGS:
      return record[at + 1] === LETTER_T;
    default:
      return true;
  }
}

/** The place behind the value of a member, which begins at `at`. */
function endOfValue(record: Uint8Array, at: number, member: number): number {
  switch (member) {
    case STATUS:
    case COMMENT:
    case IMAGE:
      return endOfText(record, at + 1);
    case LAT:
    case LON:
      return endOfDegrees(record, at + 1);
    case IS_PROCESSED:
      return record[at] === LETTER_T ? at + 4 : at + 5;
    case TAGS:
      return endOfTexts(record, at + 1);
    case CREATED_AT:
    case MODIFIED_AT:
      return at + CANONICAL_BYTES + 2;
    default:
      return endOfDigits(record, at);
  }
}

function endOfDigits(record: Uint8Array, from: number): number {
  let at = from;
  while (at < record.length && record[at]! >= ZERO && record[at]! <= NINE) at++;
  return at;
}

/** The place behind the closing quote of a coordinate: eight digits stand behind its point. */
function endOfDegrees(record: Uint8Array, from: number): number {
  let at = from;
  while (at < record.length && record[at] !== POINT) at++;
  return at + 10;
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

/** Copies bytes `from` to `to - 1`; returns where they end in `target`. */
export function copyBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  const move = at - from;
  if (to - from < LEAST_SET) for (let i = from; i < to; i++) target[i + move] = source[i]!;
  else target.set(source.subarray(from, to), at);
  return to + move;
}
