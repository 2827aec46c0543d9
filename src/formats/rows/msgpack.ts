import { addExtension, pack, Unpackr } from 'msgpackr';
import { formatUtc } from '../../model/timestamp.js';
import { BrokenRows, MAX_RAW_BYTES, problemRow, type Row, TOO_LONG } from './row.js';

const TIMESTAMP_TYPE = 0xff;
const LONGEST_ARRAY_HEADER = 5;
const REPLACEMENT = '\ufffd';
const MARK = '\ufeff';
const MARK_BYTES = Buffer.from(MARK);
/** Shorter texts are decoded otherwise, and keep their marks. */
const LONG_TEXT_BYTES = 64;

// msgpackr would make a Date, without microseconds; its extensions are those of all decoders
addExtension({ type: TIMESTAMP_TYPE, unpack: timestampText });

/**
 * Reads maps, one after the other or as one array. A MessagePack timestamp becomes ISO text.
 * A value that cannot be decoded breaks the file: nothing tells where the next one begins.
 */
export async function* readMsgpack(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  // `structures` makes it read msgpackr's extension for records, too
  const unpackr = new Unpackr({
    mapsAsObjects: true,
    int64AsType: 'number',
    structuredClone: false,
    structures: [],
  });
  // bytes not decoded yet, where they begin in the file, and how many to wait for
  let rest: Uint8Array[] = [];
  let size = 0;
  let position = 0;
  let enough = LONGEST_ARRAY_HEADER;
  let records = 0;
  /** Values of the one array; infinite where values stand for themselves. */
  let expected: number | undefined;

  const broken = (reason: string): BrokenRows =>
    new BrokenRows(`broken in record ${records + 1}, at byte ${position}: ${reason}`);

  function decode(): Row[] {
    const bytes = Buffer.concat(rest);
    let done = 0;
    if (expected === undefined) [expected, done] = readArrayHeader(bytes);
    const most = expected;
    const values = bytes.subarray(done);
    const hasMarks = values.includes(MARK_BYTES);
    const rows: Row[] = [];
    let failure: Error | undefined;
    if (values.length > 0 && records < most) {
      const first = done;
      try {
        unpackr.unpackMultiple(values, (value, start = 0, end = 0) => {
          if (end - start > MAX_RAW_BYTES) throw new Error(TOO_LONG.reason);
          records += 1;
          rows.push(readRow(records, value, values.subarray(start, end), hasMarks));
          done = first + end;
          return records < most;
        });
      } catch (error) {
        failure = error as Error;
      }
    }
    rest = [bytes.subarray(done)];
    size = bytes.length - done;
    position += done;
    // the next try waits until the bytes have doubled, which keeps the work linear
    enough = 2 * size;
    if (failure !== undefined && !('incomplete' in failure && failure.incomplete === true)) {
      throw broken(failure.message);
    }
    if (size > 0 && records === most) {
      throw new BrokenRows(`byte ${position}: nothing may follow the array of ${most} values`);
    }
    return rows;
  }

  for await (const chunk of chunks) {
    rest.push(chunk);
    size += chunk.length;
    yield size < enough && size <= MAX_RAW_BYTES ? [] : decode();
    if (size > MAX_RAW_BYTES) throw broken(TOO_LONG.reason);
  }
  yield decode();
  if (size > 0) throw broken('the file is cut short inside it');
  if (expected !== undefined && Number.isFinite(expected) && records < expected) {
    throw broken(`the file is cut short before it, its array has ${expected} values`);
  }
}

/** The number of values of the array, and the bytes of its head; [Infinity, 0] without an array. */
function readArrayHeader(bytes: Buffer): [count: number, size: number] {
  const first = bytes[0] ?? 0;
  if (first >> 4 === 0x9) return [first & 0x0f, 1];
  if (first === 0xdc && bytes.length >= 3) return [bytes.readUInt16BE(1), 3];
  if (first === 0xdd && bytes.length >= 5) return [bytes.readUInt32BE(1), 5];
  return [Number.POSITIVE_INFINITY, 0];
}

function readRow(place: number, value: unknown, bytes: Buffer, hasMarks: boolean): Row {
  // the decoder puts a replacement character where text is no UTF-8
  const replaced = countReplacements(value);
  if (replaced > 0 && bytes.toString('latin1').split('\xef\xbf\xbd').length - 1 < replaced) {
    return problemRow(place, 'is not valid UTF-8');
  }
  const isMarked = hasMarks && bytes.includes(MARK_BYTES);
  return { place, value: isMarked ? withMarks(value, bytes) : value };
}

/** Restores the byte order mark at the start of a long text, which the decoder may have dropped. */
function withMarks(value: unknown, bytes: Buffer): unknown {
  if (typeof value === 'string') {
    const packed = pack(MARK + value);
    return packed.length > LONG_TEXT_BYTES && bytes.includes(packed) ? MARK + value : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key in fields) fields[key] = withMarks(fields[key], bytes);
  return value;
}

function countReplacements(value: unknown): number {
  if (typeof value === 'string') {
    return value.includes(REPLACEMENT) ? value.split(REPLACEMENT).length - 1 : 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const one of value) count += countReplacements(one);
    return count;
  }
  for (const key in value) {
    const one = (value as Record<string, unknown>)[key];
    if (key.includes(REPLACEMENT)) count += countReplacements(key);
    // most values are texts without one, for which a call would cost more than a look
    if (typeof one !== 'string' || one.includes(REPLACEMENT)) count += countReplacements(one);
  }
  return count;
}

/** Reads seconds of 32 bits, or nanoseconds and seconds of 34 or 64 bits. */
function timestampText(data: Uint8Array): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  let seconds = Number.NaN;
  let nanoseconds = 0;
  if (bytes.length === 4) {
    seconds = bytes.readUInt32BE(0);
  } else if (bytes.length === 8) {
    nanoseconds = bytes.readUInt32BE(0) >>> 2;
    seconds = (bytes.readUInt32BE(0) & 0x3) * 2 ** 32 + bytes.readUInt32BE(4);
  } else if (bytes.length === 12) {
    nanoseconds = bytes.readUInt32BE(0);
    seconds = Number(bytes.readBigInt64BE(4));
  }
  const micros = seconds * 1e6 + Math.floor(nanoseconds / 1000);
  if (!Number.isSafeInteger(micros)) return `a timestamp of ${seconds} seconds`;
  return formatUtc(micros);
}
