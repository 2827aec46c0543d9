import { isUtf8 } from 'node:buffer';
import type { ParquetParsers, SchemaElement } from 'hyparquet';
import { formatUtc } from '../../model/timestamp.js';
import { MAX_RECORD_BYTES } from '../block.js';
import { readCell } from './csv-cells.js';
import { NOT_UTF8, TOO_LONG } from './row.js';

/** A value that cannot be read: a problem of its record alone. */
export class Unreadable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Where the point of a geometry lies. */
export class Place {
  readonly lon: number;
  readonly lat: number;

  constructor(lon: number, lat: number) {
    this.lon = lon;
    this.lat = lat;
  }
}

/** What the values of a column become: times become text, with an offset where they are of UTC. */
export function parsersOf({ logical_type: logical }: SchemaElement): ParquetParsers {
  const isLocal = logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC;
  const time = (micros: bigint): string => timeText(Number(micros), isLocal);
  return {
    timestampFromMilliseconds: (millis) => time(millis * 1000n),
    timestampFromMicroseconds: time,
    timestampFromNanoseconds: (nanos) => time(nanos / 1000n - (nanos % 1000n < 0n ? 1n : 0n)),
    dateFromDays: (days) => timeText(days * 86_400e6, true).slice(0, 10),
    stringFromBytes: text,
    jsonFromBytes: text,
    geometryFromBytes: place,
    geographyFromBytes: place,
    uuidFromBytes: (bytes) => Buffer.from(bytes).toString('hex'),
  };
}

/**
 * The value as records have it in this field; undefined for none. Text is read as that of CSV is.
 */
export function cellValue(field: string, value: unknown): unknown {
  if (value === null) return undefined;
  if (typeof value === 'string') return readCell(field, value);
  // a number that is rounded may be another one
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  return value;
}

function timeText(micros: number, isLocal: boolean): string {
  if (!Number.isSafeInteger(micros)) return `a timestamp of ${micros} microseconds`;
  const text = formatUtc(micros);
  return isLocal ? text.slice(0, -OFFSET.length) : text;
}

const OFFSET = '+00:00';

function text(bytes: Uint8Array | undefined): string | Unreadable {
  // of a dictionary that is longer than its page says
  if (bytes === undefined) return new Unreadable('is missing');
  if (bytes.length > MAX_RECORD_BYTES) return new Unreadable(TOO_LONG.reason);
  if (!isUtf8(bytes)) return new Unreadable(NOT_UTF8);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** A point in well-known binary, of two or more dimensions, with or without a number of its CRS. */
function place(bytes: Uint8Array): Place | Unreadable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLittle = bytes[0] === 1;
  const type = bytes.length < 5 ? 0 : view.getUint32(1, isLittle);
  const from = (type & 0x2000_0000) === 0 ? 5 : 9;
  if ((type & 0x0fff_ffff) % 1000 !== 1 || bytes.length < from + 16) {
    return new Unreadable(`must be a point, got WKB of type ${type & 0x0fff_ffff}`);
  }
  return new Place(view.getFloat64(from, isLittle), view.getFloat64(from + 8, isLittle));
}
