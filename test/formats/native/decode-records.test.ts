import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BIN8_MARK, BIN16_MARK, BIN32_MARK } from '../../../src/formats/native/format.js';
import { checkBinHead, recordSteps } from '../../../src/formats/native/frame-file.js';
import { InputError } from '../../../src/model/quote.js';

const SIZE = 5;
const fail = (problem: string): InputError => new InputError(problem);
const MARKS = [BIN8_MARK, BIN16_MARK, BIN32_MARK];
const WIDTHS = [2, 3, 5];

/** A head of so many bytes whose number reads as `size`, whatever the mark makes of its width. */
function headOf(mark: number, width: number, size: number): Buffer {
  const head = Buffer.alloc(width);
  head[0] = mark;
  head.writeUIntBE(size, 1, width - 1);
  return head;
}

test('the head of a block needs the mark and the width that belong together', () => {
  for (const [place, mark] of MARKS.entries()) {
    for (const width of WIDTHS) {
      const check = (): void => checkBinHead(headOf(mark, width, SIZE), SIZE, fail);
      if (width === WIDTHS[place]) check();
      else assert.throws(check, /expected one bin object/, `${mark} with ${width} bytes`);
    }
  }
});

test('a mark is not taken for another because its number would fit', () => {
  // the first number bytes of a longer head say the size, too
  const long = Buffer.of(BIN8_MARK, SIZE, 0);
  assert.throws(() => checkBinHead(long, SIZE, fail), /expected one bin object/);
  const foreign = Buffer.of(0xd9, SIZE);
  assert.throws(() => checkBinHead(foreign, SIZE, fail), /expected one bin object/);
  const other = headOf(BIN16_MARK, 3, SIZE + 1);
  assert.throws(() => checkBinHead(other, SIZE, fail), /expected one bin object/);
});

test('a record that lacks either of its braces is wrong', () => {
  for (const [text, wrong] of [
    ['{a}{b}', []],
    ['xa}{b}', [0]],
    ['{ax{b}', [0]],
    ['{a}xb}', [1]],
    ['{a}{bx', [1]],
  ] as const) {
    const found: number[] = [];
    const steps = recordSteps([Buffer.from(text)], Uint32Array.of(3, 3), (record) => {
      found.push(record);
    });
    for (const step of steps) assert.is(step.length, text.length);
    assert.equal(found, wrong, text);
  }
});

test.run();
