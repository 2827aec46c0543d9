const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/**
 * What a byte is outside of texts: nothing that JSON has, part of a number or word, white space, a
 * mark.
 */
const WRONG = 0;
const PLAIN = 1;
const SPACE = 2;
const MARK = 3;
const CLASSES = classes();

/** Why a value cannot go on at byte `at` of the chunk. */
export class WrongByte extends Error {
  override readonly name = 'WrongByte';
  readonly at: number;

  /** Without a `message` the byte itself is wrong. */
  constructor(at: number, message = '') {
    super(message);
    this.at = at;
  }
}

/**
 * Passes over one JSON value and finds its end, with a look at each byte: brackets must match, and
 * outside of texts there are only characters that JSON has. All else is for `JSON.parse` to check.
 */
export class ValueScanner {
  /** The brackets that must close the value, the innermost last. */
  readonly #closers: Uint8Array;
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  #isOver = true;

  /** A value nested deeper than `maxDepth` is wrong. */
  constructor(maxDepth: number) {
    this.#closers = new Uint8Array(maxDepth);
  }

  /** Whether the value has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins with the value whose first byte is `byte`; false where no value begins with it. */
  begin(byte: number): boolean {
    this.#depth = 0;
    this.#inText = false;
    this.#isEscaped = false;
    this.#isOver = !(CLASSES[byte] === PLAIN || byte === QUOTE || isOpening(byte));
    return !this.#isOver;
  }

  /**
   * Goes on from byte `from`; returns where the value ends, or the end of the chunk. Throws {@link
   * WrongByte}.
   */
  pass(chunk: Uint8Array, from: number): number {
    let i = from;
    while (i < chunk.length) {
      if (this.#inText) {
        i = this.#endOfText(chunk, i);
        if (!this.#inText && this.#depth === 0) return this.#end(i);
        continue;
      }
      const byte = chunk[i]!;
      const kind = CLASSES[byte];
      if (kind === WRONG) throw new WrongByte(i);
      if (kind === MARK) {
        if (byte === QUOTE) {
          this.#inText = true;
        } else if (isOpening(byte)) {
          this.#open(byte, i);
        } else if (this.#depth === 0) {
          // a number or a word, which the mark behind it ends
          return this.#end(i);
        } else if (byte === BRACKET_CLOSE || byte === BRACE_CLOSE) {
          this.#depth--;
          if (this.#closers[this.#depth] !== byte) throw new WrongByte(i);
          if (this.#depth === 0) return this.#end(i + 1);
        }
      } else if (kind === SPACE && this.#depth === 0) {
        return this.#end(i);
      }
      i++;
    }
    return i;
  }

  #end(i: number): number {
    this.#isOver = true;
    return i;
  }

  /**
   * Where the text ends that the scanner stands in: behind its quote, else at the end of the chunk.
   */
  #endOfText(chunk: Uint8Array, from: number): number {
    let i = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    while (i < chunk.length) {
      const byte = chunk[i]!;
      if (byte === QUOTE) {
        this.#inText = false;
        return i + 1;
      }
      if (byte < 0x20) throw new WrongByte(i);
      i += byte === BACKSLASH ? 2 : 1;
    }
    this.#isEscaped = i > chunk.length;
    return chunk.length;
  }

  #open(byte: number, i: number): void {
    if (this.#depth === this.#closers.length) throw new WrongByte(i, 'nested too deep');
    this.#closers[this.#depth] = byte === BRACKET_OPEN ? BRACKET_CLOSE : BRACE_CLOSE;
    this.#depth++;
  }
}

/** Whether a byte is white space of JSON. */
export function isJsonSpace(byte: number): boolean {
  return CLASSES[byte] === SPACE;
}

function isOpening(byte: number): boolean {
  return byte === BRACKET_OPEN || byte === BRACE_OPEN;
}

function classes(): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from('0123456789+-.eEtrufalsn')) table[byte] = PLAIN;
  for (const byte of Buffer.from(' \t\r\n')) table[byte] = SPACE;
  for (const byte of Buffer.from('{}[],:"')) table[byte] = MARK;
  return table;
}
