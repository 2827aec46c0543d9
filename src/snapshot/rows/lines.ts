import { MAX_RAW_BYTES, withoutBom } from './row.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

export interface Line {
  /** Number of its (first) line, from 1. */
  readonly place: number;
  /** Without its line end; undefined when there are more than {@link MAX_RAW_BYTES} of them. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * Cuts chunks of bytes into lines: add a chunk, take lines until there is none, add the next; take
 * the last line at the end. Holds one line at most, and of an overlong one nothing.
 */
export class LineSplitter {
  /** The separator of a CSV file once it is known: from then on quoted line ends end no line. */
  separator: number | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #parts: Uint8Array[] = [];
  #size = 0;
  #place = 1;
  #quotedLines = 0;
  /** Where in a CSV field the next byte stands; `closed` is behind a quote that may be its last. */
  #field: 'start' | 'plain' | 'quoted' | 'closed' = 'start';

  add(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** Undefined until the next chunk is added. */
  next(): Line | undefined {
    const end =
      this.separator === undefined
        ? this.#chunk.indexOf(LINE_FEED, this.#at)
        : this.#endOfRecord(this.separator);
    if (end === -1) {
      this.#keep(this.#chunk.length);
      return undefined;
    }
    this.#keep(end);
    this.#at = end + 1;
    return this.#take();
  }

  /** The line that ends with the file rather than with a line end. */
  last(): Line | undefined {
    return this.#size === 0 ? undefined : this.#take();
  }

  /** Whether a quote is open, which at the end of a file means that it was never closed. */
  isQuoted(): boolean {
    return this.#field === 'quoted';
  }

  #keep(end: number): void {
    const part = this.#chunk.subarray(this.#at, end);
    this.#at = end;
    this.#size += part.length;
    if (this.#size <= MAX_RAW_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #take(): Line {
    const place = this.#place;
    let bytes: Uint8Array | undefined;
    if (this.#size <= MAX_RAW_BYTES) {
      bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      if (place === 1) bytes = withoutBom(bytes);
      if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    }
    this.#place += 1 + this.#quotedLines;
    this.#quotedLines = 0;
    this.#parts = [];
    this.#size = 0;
    this.#field = 'start';
    return { place, bytes };
  }

  #endOfRecord(separator: number): number {
    const chunk = this.#chunk;
    let field = this.#field;
    let i = this.#at;
    for (; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (field === 'quoted') {
        if (byte === QUOTE) field = 'closed';
        else if (byte === LINE_FEED) this.#quotedLines += 1;
      } else if (byte === LINE_FEED) {
        break;
      } else if (byte === separator) {
        field = 'start';
      } else {
        field = byte === QUOTE && field !== 'plain' ? 'quoted' : 'plain';
      }
    }
    this.#field = field;
    return i === chunk.length ? -1 : i;
  }
}
