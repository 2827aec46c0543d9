import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import { copyJsonText, copyPlainWords, WORD } from '../../src/tiles/json-text.js';

/** The text between the quotes of JSON, read by the code under test: by words, then by bytes. */
function read(json: string): string {
  const bytes = Buffer.from(`${json}#####`);
  const target = Buffer.alloc(bytes.length + 3, '#');
  const to = bytes.length - 6;
  const from = copyPlainWords(wordsOf(bytes), 1, to, wordsOf(target), 3);
  const end = copyJsonText(bytes, from, to, target, from + 2);
  return target.toString('utf8', 3, end);
}

function wordsOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

test('text is what JSON.parse makes of it, whatever is escaped', () => {
  const random = new Random(7, 'point');
  const pieces = [
    'a',
    'é',
    '€',
    '😀',
    '"',
    '\\',
    '/',
    '\b',
    '\f',
    '\n',
    '\r',
    '\t',
    '\u0001',
    '\x7f',
  ];
  for (let i = 0; i < 2_000; i++) {
    const text = Array.from({ length: random.int(12) }, () => random.pick(pieces)).join('');
    assert.is(read(JSON.stringify(text)), text);
    // every character as an escape, in either case
    const escaped = [...Array(text.length).keys()].map((at) => {
      const unit = text.charCodeAt(at).toString(16).padStart(4, '0');
      return `\\u${random.chance(0.5) ? unit.toUpperCase() : unit}`;
    });
    assert.is(read(`"${escaped.join('')}"`), text);
  }
  assert.is(read('"\\/"'), '/');
});

test('words are copied up to the one with the first backslash, and all where there is none', () => {
  for (let backslash = 0; backslash < 20; backslash++) {
    const bytes = Buffer.from(`${'\u0080é[]~'.repeat(4)}`);
    const target = Buffer.alloc(bytes.length + WORD);
    assert.is(copyPlainWords(wordsOf(bytes), 3, 20, wordsOf(target), 1), 20);
    assert.is(Buffer.compare(target.subarray(1, 18), bytes.subarray(3, 20)), 0);
    bytes[3 + backslash] = '\\'.charCodeAt(0);
    const stop = copyPlainWords(wordsOf(bytes), 3, 24, wordsOf(target), 1);
    assert.is(stop, 3 + backslash - (backslash % WORD));
  }
});

test('half a surrogate pair becomes U+FFFD', () => {
  for (const json of ['"\\ud800"', '"\\udc00"', '"\\ud800x"', '"\\ud800\\n"', '"\\ud800\\u0041"']) {
    const expected = Buffer.from(JSON.parse(json) as string).toString();
    assert.is(read(json), expected, json);
  }
  assert.is(read('"\\ud800\\ud83d\\ude00"'), '\ufffd😀');
});

test('what is no JSON is read to its end, and no further', () => {
  for (const json of ['"\\"', '"\\u"', '"\\u12"', '"\\ud800\\u1"', '"\\ud83d\\ude0"']) {
    assert.ok(Buffer.byteLength(read(json)) <= json.length, json);
  }
});

test.run();
