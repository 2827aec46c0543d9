import type { InputError } from '../../model/quote.js';
import type { Fail } from './decode.js';
import { BIN8_MARK, BIN16_MARK, BIN32_MARK } from './format.js';

/** What a `bin` has before its bytes, by the width of its length. */
const BIN_HEAD_BYTES: readonly number[] = [2, 3, 5];

/** Of records, read and checked at a time. */
const STEP_BYTES = 256 * 1024;

const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/**
 * Checks that an object of `length` bytes can be a `bin` of `size` bytes, before memory is taken
 * for it.
 */
export function checkBinSize(length: number, size: number, fail: Fail): void {
  if (!BIN_HEAD_BYTES.includes(length - size)) throw notOneBin(size, fail);
}

/** Checks the bytes that stand before those of a `bin`, as many as {@link checkBinSize} allows. */
export function checkBinHead(head: Buffer, size: number, fail: Fail): void {
  const claimed =
    head[0] === BIN8_MARK && head.length === 2
      ? head[1]
      : head[0] === BIN16_MARK && head.length === 3
        ? head.readUInt16BE(1)
        : head[0] === BIN32_MARK && head.length === 5
          ? head.readUInt32BE(1)
          : undefined;
  if (claimed !== size) throw notOneBin(size, fail);
}

/**
 * Goes through the memory of a block's records in steps, for each to be filled before the next is
 * asked for: it is checked then, while it is in the processor's cache. No piece cuts a record in
 * two. `onWrong` hears of each record that is not where the columns say.
 */
export function* recordSteps(
  pieces: readonly Uint8Array[],
  length: Uint32Array,
  onWrong: (record: number) => void,
): Generator<Uint8Array> {
  let record = 0;
  for (const piece of pieces) {
    let from = 0;
    for (let start = 0; start < piece.length; start += STEP_BYTES) {
      const end = Math.min(start + STEP_BYTES, piece.length);
      yield piece.subarray(start, end);
      for (let to = from + length[record]!; to <= end; to += length[record]!) {
        if (piece[from] !== BRACE_OPEN || piece[to - 1] !== BRACE_CLOSE) onWrong(record);
        from = to;
        record++;
      }
    }
    if (from !== piece.length) onWrong(record);
  }
}

function notOneBin(size: number, fail: Fail): InputError {
  return fail(`expected one bin object with ${size} bytes of records`);
}
