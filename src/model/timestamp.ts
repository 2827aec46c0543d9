import { quote } from './quote.js';
import type { TimeZone } from './time-zone.js';
import type { Microseconds } from './units.js';

/** An instant, and its text as the API writes it. */
export interface Timestamp {
  readonly micros: Microseconds;
  /** `YYYY-MM-DDThh:mm:ss.ffffff±hh:mm`, with the offset of the input. */
  readonly text: string;
}

const SHAPE =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+\- ])(\d\d)(?::?(\d\d))?)?$/;
/** What stands between the numbers of the API's timestamps, but for the sign of the offset. */
const MARKS = '--T::.:';
const MARK_PLACES = [4, 7, 10, 13, 16, 19, 29] as const;
/** An integer: with a NaN the arithmetic of times would be that of floats. */
const NO_DIGITS = -1e6;
export const DATE: RegExp = /^\d{4}-\d\d-\d\d$/;

/** The last one read: many records have `modified_at` = `created_at`. */
let last: Timestamp = { micros: 0, text: '' };

/**
 * Reads a record's timestamp; returns the problem as text where it is none. With a `zone`, a time
 * without an offset is local time, and a date alone the first moment of its day.
 */
export function parseTimestamp(text: string, zone?: TimeZone): Timestamp | string {
  if (text.length === CANONICAL_BYTES) {
    if (text === last.text) return last;
    const micros = canonicalMicros(text, 0);
    if (Number.isSafeInteger(micros)) {
      last = { micros, text };
      return last;
    }
  }
  const isDate = zone !== undefined && DATE.test(text);
  const fields = SHAPE.exec(isDate ? `${text}T00:00` : text);
  if (fields === null || fields[9] === ' ') {
    return `${needs('a UTC offset')}, got ${quote(text)}`;
  }
  const local = localSeconds(fields);
  if (typeof local === 'string') return local;
  const own = offsetSeconds(fields);
  if (typeof own === 'string') return own;
  const certain = own ?? zone?.offsetAt(local);
  let offset = certain;
  if (isDate) offset ??= offsetBefore(local, zone);
  if (offset === undefined) {
    const reason = zone === undefined ? 'needs a UTC offset such as Z or +02:00' : ambiguous(zone);
    return `${reason}, got ${quote(text)}`;
  }
  const fraction = sixDigits(fields[7]);
  const micros = (local - offset) * 1e6 + Number(fraction);
  if (!Number.isSafeInteger(micros)) {
    const rule = 'must lie between 1684-07-29 and 2255-06-05, where microseconds are exact';
    return `${rule}, got ${quote(text)}`;
  }
  if (own === undefined) {
    const shown = certain ?? zone!.offsetOf(micros / 1e6);
    // offsets of old local mean times have seconds, which a text cannot have
    return { micros, text: formatLocal(micros, shown - (shown % 60)) };
  }
  return { micros, text: canonical(fields, fraction, offset) };
}

/** The bytes of a timestamp of the API. */
export const CANONICAL_BYTES = 32;

/** Reads the API's timestamp at `at`; NaN or no safe integer where it is invalid or inexact. */
export function canonicalMicros(text: string, at: number): Microseconds {
  for (let i = 0; i < MARK_PLACES.length; i++) {
    if (text.charCodeAt(at + MARK_PLACES[i]!) !== MARKS.charCodeAt(i)) return Number.NaN;
  }
  const sign = text.charCodeAt(at + 26);
  if (sign !== 0x2b && sign !== 0x2d) return Number.NaN;
  const year = twoDigits(text, at) * 100 + twoDigits(text, at + 2);
  const month = twoDigits(text, at + 5);
  const day = twoDigits(text, at + 8);
  const hour = twoDigits(text, at + 11);
  const minute = twoDigits(text, at + 14);
  const second = twoDigits(text, at + 17);
  const hundredths = twoDigits(text, at + 20) * 100 + twoDigits(text, at + 22);
  const micros = hundredths * 100 + twoDigits(text, at + 24);
  const hours = twoDigits(text, at + 27);
  const minutes = twoDigits(text, at + 30);
  const isDate =
    year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  const isTime =
    hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59;
  const isOffset = hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
  if (!isDate || !isTime || !isOffset || micros < 0) return Number.NaN;
  const local = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
  const offset = (sign === 0x2d ? -1 : 1) * (hours * 3600 + minutes * 60);
  return (local - offset) * 1e6 + micros;
}

/**
 * Reads the time of a query; returns the problem as text, without the value, where it is none.
 * Without an offset it is local time; a space before the offset is a `+` that was decoded.
 */
export function parseQueryTime(text: string, zone: TimeZone): Microseconds | string {
  const fields = SHAPE.exec(text.trim());
  if (fields === null) return needs('an optional offset');
  const local = localSeconds(fields);
  if (typeof local === 'string') return local;
  const offset = offsetSeconds(fields) ?? zone.offsetAt(local) ?? ambiguous(zone);
  if (typeof offset === 'string') return offset;
  return (local - offset) * 1e6 + Number(sixDigits(fields[7]));
}

/** The first moment of a day and the last one, in microseconds, by the clocks of a zone. */
interface Day {
  readonly first: Microseconds;
  readonly last: Microseconds;
}

/** Reads what {@link DATE} matches; returns the problem as text where there is no such day. */
export function parseDay(date: string, zone: TimeZone): Day | string {
  const local = localSeconds(SHAPE.exec(`${date}T00:00`)!);
  if (typeof local === 'string') return local;
  const begin = (at: number): Microseconds =>
    (at - (zone.offsetAt(at) ?? offsetBefore(at, zone))) * 1e6;
  return { first: begin(local), last: begin(local + 86_400) - 1 };
}

/** A day with no midnight, or two, begins at midnight by the offset of the day before. */
function offsetBefore(midnight: number, zone: TimeZone): number {
  return zone.offsetOf(midnight - 86_400);
}

export function formatUtc(micros: Microseconds): string {
  return formatLocal(micros, 0);
}

/** The API's text for an instant with an offset in seconds, which must be whole minutes. */
export function formatLocal(micros: Microseconds, offset: number): string {
  const seconds = Math.floor(micros / 1e6);
  const fraction = String(micros - seconds * 1e6).padStart(6, '0');
  const local = new Date((seconds + offset) * 1000).toISOString().slice(0, 19);
  return `${local}.${fraction}${offsetText(offset)}`;
}

function localSeconds(fields: RegExpExecArray): number | string {
  const [year, month, day] = [Number(fields[1]), Number(fields[2]), Number(fields[3])];
  const [hour, minute, second] = [Number(fields[4]), Number(fields[5]), Number(fields[6] ?? 0)];
  if (year < 1) return `the year must be 0001 to 9999, got ${fields[1]}`;
  if (month < 1 || month > 12) return `the month must be 01 to 12, got ${fields[2]}`;
  const lastDay = daysInMonth(year, month);
  if (day < 1 || day > lastDay) {
    return `the day must be 01 to ${lastDay} in ${fields[1]}-${fields[2]}, got ${fields[3]}`;
  }
  if (hour > 23) return `the hour must be 00 to 23, got ${fields[4]}`;
  if (minute > 59) return `the minute must be 00 to 59, got ${fields[5]}`;
  if (second > 59) return `the second must be 00 to 59, got ${fields[6]}`;
  return daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
}

function offsetSeconds(fields: RegExpExecArray): number | undefined | string {
  if (fields[8] !== undefined) return 0;
  if (fields[10] === undefined) return undefined;
  const hours = Number(fields[10]);
  const minutes = Number(fields[11] ?? 0);
  if (hours > 23 || minutes > 59) {
    const got = `${fields[10]}:${fields[11] ?? '00'}`;
    return `the UTC offset must have 00 to 23 hours and 00 to 59 minutes, got ${got}`;
  }
  return (fields[9] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function canonical(fields: RegExpExecArray, fraction: string, offset: number): string {
  const [, year, month, day, hour, minute, second = '00'] = fields;
  const zone = offset === 0 && fields[9] === '-' ? '-00:00' : offsetText(offset);
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}${zone}`;
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset) / 60;
  const hh = String(Math.floor(minutes / 60)).padStart(2, '0');
  const mm = String(minutes % 60).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${hh}:${mm}`;
}

/** The fraction of a second in microseconds, cut off. */
function sixDigits(fraction: string | undefined): string {
  return (fraction ?? '').slice(0, 6).padEnd(6, '0');
}

/** Reads two digits; where there are none, {@link NO_DIGITS}, which makes sums with others negative. */
function twoDigits(text: string, at: number): number {
  const [ten, one] = [text.charCodeAt(at) - 0x30, text.charCodeAt(at + 1) - 0x30];
  return ten >= 0 && ten <= 9 && one >= 0 && one <= 9 ? ten * 10 + one : NO_DIGITS;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 1970-01-01 in the Gregorian calendar; `Date.UTC` misreads years below 100. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const fromMarch = month > 2 ? month - 3 : month + 9;
  const y = month > 2 ? year : year - 1;
  const leaps = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leaps + Math.floor((153 * fromMarch + 2) / 5) + day - 719_469;
}

function ambiguous({ name }: TimeZone): string {
  return `skipped or repeated by a clock change in ${name}; add a UTC offset`;
}

function needs(offset: string): string {
  return `needs a date and a time with ${offset}, such as 2023-05-01T12:00:00Z`;
}
