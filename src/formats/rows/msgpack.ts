import { addExtension, Unpackr } from 'msgpackr';
import { formatUtc } from '../../model/timestamp.js';
import { BrokenRows, MAX_RAW_BYTES, problemRow, type Row, TOO_LONG } from './row.js';

const TIMESTAMP_TYPE = 0xff;
const LONGEST_ARRAY_HEADER = 5;
const REPLACEMENT = '\ufffd';

// known to msgpackr as a Date, which would lose the microseconds; it has one registry for all
// decoders
addExtension({ type: TIMESTAMP_TYPE, unpack: timestampText });

/**
 * Maps in MessagePack: one after the other, or as one array. A timestamp of the format becomes ISO
 * text. A value that cannot be decoded breaks the file, as nothing tells where the next one begins.
 */
export async function* readMsgpack(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const values = new ValueStream();
  for await (const chunk of chunks) yield values.write(chunk);
  yield values.end();
}

class ValueStream {
  // with `structures`, what msgpackr writes with its own extension for records can be read, too
  readonly #unpackr = new Unpackr({
    mapsAsObjects: true,
    int64AsType: 'number',
    structuredClone: false,
    structures: [],
  });
  /** Bytes not decoded yet, where they begin in the file, and how many make a try worth while. */
  #parts: Uint8Array[] = [];
  #size = 0;
  #position = 0;
  #enough = LONGEST_ARRAY_HEADER;
  #records = 0;
  /** Values of the one array; infinite where values stand for themselves. */
  #expected: number | undefined;

  write(chunk: Uint8Array): Row[] {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#enough && this.#size <= MAX_RAW_BYTES) return [];
    const rows = this.#decode();
    if (this.#size > MAX_RAW_BYTES) throw this.#broken(TOO_LONG.reason);
    return rows;
  }

  /** The records that were left. Throws when bytes or values are missing. */
  end(): Row[] {
    const rows = this.#decode();
    if (this.#size > 0) throw this.#broken('the file is cut short inside it');
    const expected = this.#expected ?? 0;
    if (Number.isFinite(expected) && this.#records < expected) {
      throw this.#broken(`the file is cut short before it, its array has ${expected} values`);
    }
    return rows;
  }

  #decode(): Row[] {
    let bytes: Buffer = Buffer.concat(this.#parts);
    if (this.#expected === undefined) {
      const [count, size] = readArrayHeader(bytes);
      this.#expected = count;
      bytes = this.#forget(bytes, size);
    }
    const rows: Row[] = [];
    const expected = this.#expected;
    let done = 0;
    let failure: Error | undefined;
    if (bytes.length > 0 && this.#records < expected) {
      try {
        this.#unpackr.unpackMultiple(bytes, (value, start = 0, end = 0) => {
          if (end - start > MAX_RAW_BYTES) throw new Error(TOO_LONG.reason);
          this.#records += 1;
          rows.push(readRow(this.#records, value, bytes.subarray(start, end)));
          done = end;
          return this.#records < expected;
        });
      } catch (error) {
        failure = error as Error;
      }
    }
    bytes = this.#forget(bytes, done);
    if (failure !== undefined && !('incomplete' in failure && failure.incomplete === true)) {
      throw this.#broken(failure.message);
    }
    if (bytes.length > 0 && this.#records === expected) {
      throw new BrokenRows(
        `byte ${this.#position}: nothing may follow the array of ${expected} values`,
      );
    }
    return rows;
  }

  #forget(bytes: Buffer, done: number): Buffer {
    const rest = bytes.subarray(done);
    this.#position += done;
    this.#parts = [rest];
    this.#size = rest.length;
    // trying again only once they have doubled keeps the work linear
    this.#enough = 2 * rest.length;
    return rest;
  }

  #broken(reason: string): BrokenRows {
    return new BrokenRows(
      `broken in record ${this.#records + 1}, at byte ${this.#position}: ${reason}`,
    );
  }
}

/** How many values the array has, and how many bytes say so; [Infinity, 0] where it is no array. */
function readArrayHeader(bytes: Buffer): [count: number, size: number] {
  const first = bytes[0] ?? 0;
  if (first >> 4 === 0x9) return [first & 0x0f, 1];
  if (first === 0xdc && bytes.length >= 3) return [bytes.readUInt16BE(1), 3];
  if (first === 0xdd && bytes.length >= 5) return [bytes.readUInt32BE(1), 5];
  return [Number.POSITIVE_INFINITY, 0];
}

function readRow(place: number, value: unknown, bytes: Buffer): Row {
  // the decoder puts a replacement character where text is no UTF-8
  const replaced = countReplacements(value);
  if (replaced > 0 && bytes.toString('latin1').split('\xef\xbf\xbd').length - 1 < replaced) {
    return problemRow(place, 'is not valid UTF-8');
  }
  return { place, value };
}

function countReplacements(value: unknown): number {
  if (typeof value === 'string') {
    return value.includes(REPLACEMENT) ? value.split(REPLACEMENT).length - 1 : 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const key in value) {
    count += countReplacements(key) + countReplacements((value as Record<string, unknown>)[key]);
  }
  return count;
}

/** Seconds since the epoch in 32, 34 or 64 bits, the latter two beside nanoseconds. */
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
