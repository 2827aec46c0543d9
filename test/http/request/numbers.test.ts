import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { parseDecimals } from '../../../src/http/request/parameter.js';

const SEED = 5;

test('plain numbers', () => {
  assert.equal(parseDecimals('60.17,-24.94,1000', 3), [60.17, -24.94, 1000]);
  assert.equal(parseDecimals('.5,5.,-.5,-0', 4), [0.5, 5, -0.5, 0]);
  assert.ok(Object.is(parseDecimals('-0.0', 1)[0], 0));
});

test('numbers that take a closer look', () => {
  assert.equal(parseDecimals(' 1 ,+2,3e2', 3), [1, 2, 300]);
  const [long, large] = ['0.1234567890123456789', '9007199254740993'];
  assert.equal(parseDecimals(`${long},${large}`, 2), [Number(long), Number(large)]);
});

test('what is no number, one by one', () => {
  assert.equal(parseDecimals('1,,3', 3), [1, undefined, 3]);
  assert.equal(parseDecimals('1,.,-', 3), [1, undefined, undefined]);
  assert.equal(parseDecimals('0x1,1e999,Infinity', 3), [undefined, undefined, undefined]);
  assert.equal(parseDecimals('1.2.3,--1,1-', 3), [undefined, undefined, undefined]);
});

test('more or fewer numbers', () => {
  assert.is(parseDecimals('1,2', 3), 'needs three numbers, has 2');
  assert.is(parseDecimals('1,2,3,', 3), 'needs three numbers, has more');
  assert.is(parseDecimals('1,2,3,4,5', 4), 'needs four numbers, has more');
  assert.is(parseDecimals('', 4), 'needs four numbers, has 1');
});

test('the double nearest to any decimal, as Number has it', () => {
  const random = new Random(SEED, 'point');
  for (let round = 0; round < 20_000; round++) {
    const digits = Array.from({ length: 1 + random.int(17) }, () => random.int(10)).join('');
    const point = random.int(digits.length + 1);
    const dotted = `${digits.slice(0, point)}.${digits.slice(point)}`;
    const text = random.pick(['', '-']) + random.pick([digits, dotted]);
    assert.equal(parseDecimals(`${text},1`, 2), [Number(text) + 0, 1], text);
  }
});

test.run();
