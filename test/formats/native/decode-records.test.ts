import { pack } from 'msgpackr';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeRecords } from '../../../src/formats/native/decode.js';
import { InputError } from '../../../src/model/quote.js';

const fail = (problem: string): InputError => new InputError(problem);
const decode = (object: Buffer): string =>
  `${decodeRecords(object, 6, Uint32Array.of(3, 3), fail)}`;

test('records are one bin in any of its forms, as large as the columns say', () => {
  const text = '{a}{b}';
  for (const head of [
    [0xc4, 6],
    [0xc5, 0, 6],
    [0xc6, 0, 0, 0, 6],
  ]) {
    assert.is(decode(Buffer.concat([Buffer.from(head), Buffer.from(text)])), text);
  }
  for (const value of [Buffer.from('{a}'), Buffer.from('{a}{b}{}'), text, [...text], {}, null]) {
    assert.throws(() => decode(pack(value)), /expected one bin object with 6 bytes/);
  }
  for (const hex of ['c403', 'c4067b617d7b627d00', 'd9067b617d7b627d', 'c1']) {
    assert.throws(() => decode(Buffer.from(hex, 'hex')), /bin object|MessagePack/, hex);
  }
});

test('a record that lacks either of its braces is wrong', () => {
  for (const [text, wrong] of [
    ['xa}{b}', 0],
    ['{ax{b}', 0],
    ['{a}xb}', 1],
    ['{a}{bx', 1],
  ] as const) {
    assert.throws(
      () => decode(pack(Buffer.from(text))),
      new RegExp(`record ${wrong} of the block`),
    );
  }
});

test.run();
