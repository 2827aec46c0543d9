import { isUtf8 } from 'node:buffer';
import { CanonicalReader } from './canonical.js';
import { faultOf, findFault } from './json-fault.js';
import { isJsonSpace, ValueScanner, WrongByte } from './json-value.js';
import { BrokenRows, MAX_RAW_BYTES, NOT_UTF8, TOO_LONG } from './row.js';

// V8 would take any depth, but what follows may not, and no record needs it
const MAX_DEPTH = 64;

/** Keys that are kept of the outermost object. */
const MAX_KEYS = 20;

const BOM = [0xef, 0xbb, 0xbf] as const;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Members of the outermost object whose values are kept. */
const KEPT: ReadonlySet<unknown> = new Set([
  'type',
  'crs',
  'count',
  'next',
  'numberMatched',
  'links',
]);

/** The list of a JSON document that holds its records. */
export type ListName = 'array' | 'results' | 'features';

type State =
  | 'start'
  | 'first item'
  | 'item'
  | 'behind item'
  | 'first key'
  | 'key'
  | 'colon'
  | 'member'
  | 'behind member'
  | 'end';

/**
 * Cuts a JSON document into the records of its list: an array, or the member `results` or
 * `features` of an object. The document costs a look at each byte and one `JSON.parse` of each
 * record. A record that is too long is passed over without being kept.
 */
export class JsonDocument {
  /** Undefined until the list begins. */
  list: ListName | undefined;
  /**
   * Values of the members `type`, `crs`, `count`, `next`, `numberMatched` and `links` of the
   * outermost object.
   */
  readonly members: Map<string, unknown> = new Map();
  /** The first keys of the outermost object. */
  readonly keys: string[] = [];
  /** Records so far, those that are too long among them. */
  records = 0;
  /** Bytes of the chunks so far. */
  bytes = 0;
  readonly #onRecord: (value: unknown, isTooLong: boolean) => void;
  readonly #canonical = new CanonicalReader();
  readonly #scanner = new ValueScanner(MAX_DEPTH - 1);
  #state: State = 'start';
  #key: unknown;
  /** Where the last record ends. */
  #recordEnd = 0;
  /** Where the value begins that the scanner stands in, and its bytes so far. */
  #start = 0;
  #parts: Uint8Array[] = [];
  #size = 0;

  /**
   * `onRecord` hears each record of the list, parsed or a `RenderedPoint`, or that it is too long.
   */
  constructor(onRecord: (value: unknown, isTooLong: boolean) => void) {
    this.#onRecord = onRecord;
  }

  /** Whether the document has ended. */
  get isComplete(): boolean {
    return this.#state === 'end';
  }

  /** Reads the next bytes of the document. Throws {@link BrokenRows} where they are no JSON. */
  write(chunk: Uint8Array): void {
    try {
      for (let i = 0; i < chunk.length; ) {
        if (!this.#scanner.isOver) i = this.#pass(chunk, i);
        else if (isJsonSpace(chunk[i]!) || this.#isBom(chunk[i]!, i)) i++;
        else i = this.#step(chunk, i);
      }
    } catch (error) {
      if (!(error instanceof WrongByte)) throw error;
      const { at, message } = error;
      const tooDeep = `it is nested more than ${MAX_DEPTH} levels deep`;
      throw this.#broken(this.bytes + at, message === '' ? faultOf(chunk, at).reason : tooDeep);
    }
    this.bytes += chunk.length;
    if (this.#state !== 'end' && this.#scanner.isOver) this.#checkLength(this.bytes);
  }

  #isBom(byte: number, i: number): boolean {
    return this.#state === 'start' && byte === BOM[this.bytes + i];
  }

  /** Takes a mark of the document, or the beginning of a value; returns where to go on. */
  #step(chunk: Uint8Array, i: number): number {
    const byte = chunk[i]!;
    switch (this.#state) {
      case 'start':
        if (byte === BRACKET_OPEN) return this.#startList('array', i);
        if (byte === BRACE_OPEN) return this.#enter('first key', i);
        break;
      case 'first item':
      case 'behind item':
        if (byte === BRACKET_CLOSE) {
          return this.#enter(this.list === 'array' ? 'end' : 'behind member', i);
        }
        if (this.#state === 'first item') return this.#begin('item', chunk, i);
        if (byte === COMMA) return this.#enter('item', i);
        break;
      case 'item':
        return this.#begin('item', chunk, i);
      case 'first key':
      case 'key':
        if (byte === QUOTE) return this.#begin('key', chunk, i);
        if (byte === BRACE_CLOSE && this.#state === 'first key') return this.#enter('end', i);
        break;
      case 'colon':
        if (byte === COLON) return this.#enter('member', i);
        break;
      case 'member':
        if (byte === BRACKET_OPEN && (this.#key === 'results' || this.#key === 'features')) {
          return this.#startList(this.#key, i);
        }
        return this.#begin('member', chunk, i);
      case 'behind member':
        if (byte === COMMA) return this.#enter('key', i);
        if (byte === BRACE_CLOSE) return this.#enter('end', i);
        break;
      case 'end':
    }
    throw new WrongByte(i);
  }

  #enter(state: State, i: number): number {
    this.#state = state;
    return i + 1;
  }

  #startList(name: ListName, i: number): number {
    if (this.list !== undefined) {
      throw this.#broken(this.bytes + i, `it has a second list of records, "${name}"`);
    }
    this.list = name;
    return this.#enter('first item', i);
  }

  #begin(state: 'item' | 'key' | 'member', chunk: Uint8Array, i: number): number {
    if (!this.#scanner.begin(chunk[i]!)) throw new WrongByte(i);
    this.#checkLength(this.bytes + i);
    this.#state = state;
    this.#start = this.bytes + i;
    return this.#pass(chunk, i);
  }

  /** Goes on with the value that the scanner stands in; returns where to go on behind. */
  #pass(chunk: Uint8Array, from: number): number {
    const end = this.#scanner.pass(chunk, from);
    const part = chunk.subarray(from, end);
    this.#size += part.length;
    if (this.#size <= MAX_RAW_BYTES) this.#parts.push(part);
    else this.#parts = [];
    if (this.#scanner.isOver) this.#take(this.bytes + end);
    return end;
  }

  /** Takes the value that ends at byte `end` of the document. */
  #take(end: number): void {
    const isTooLong = this.#size > MAX_RAW_BYTES;
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    if (this.#state !== 'item') this.#checkLength(end);
    const isRecord = this.#state === 'item';
    const point = isRecord && !isTooLong ? this.#canonical.read(bytes) : undefined;
    const value = isTooLong ? undefined : (point ?? this.#parse(bytes));
    if (isRecord) {
      this.records += 1;
      this.#recordEnd = end;
      this.#state = 'behind item';
      this.#onRecord(value, isTooLong);
    } else if (this.#state === 'key') {
      this.#key = value;
      if (this.keys.length < MAX_KEYS) this.keys.push(String(value));
      this.#state = 'colon';
    } else {
      if (KEPT.has(this.#key)) this.members.set(String(this.#key), value);
      this.#state = 'behind member';
    }
  }

  #parse(bytes: Uint8Array): unknown {
    if (!isUtf8(bytes)) throw this.#broken(this.#start, `it ${NOT_UTF8}`);
    try {
      return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
    } catch (error) {
      const { at, reason } = findFault(bytes) ?? { at: 0, reason: (error as Error).message };
      throw this.#broken(this.#start + at, reason);
    }
  }

  /** What stands beside the records may not take more than a record may. */
  #checkLength(position: number): void {
    if (position - this.#recordEnd <= MAX_RAW_BYTES) return;
    throw new BrokenRows(
      `record ${this.records + 1}, behind byte ${this.#recordEnd}, ${TOO_LONG.reason}`,
    );
  }

  #broken(position: number, reason: string): BrokenRows {
    return new BrokenRows(
      `broken at byte ${position}, in or behind record ${this.records + 1}: ${reason}`,
    );
  }
}

/**
 * What the beginning of a document shows: its list and members so far, and whether it ends there.
 */
export function outlineOf(start: Uint8Array): {
  readonly document: JsonDocument;
  readonly state: 'complete' | 'open' | 'broken';
} {
  const document = new JsonDocument(() => {});
  try {
    document.write(start);
  } catch (error) {
    if (error instanceof BrokenRows) return { document, state: 'broken' };
    throw error;
  }
  return { document, state: document.isComplete ? 'complete' : 'open' };
}
