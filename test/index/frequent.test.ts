import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import {
  type Attributes,
  buildPostings,
  bytesOf,
  frequentTexts,
  sortTexts,
  type TextAttribute,
} from '../../src/index/postings.js';

/** An attribute whose rows have these texts. */
function attributeOf(rows: readonly string[]): TextAttribute {
  const names = [...new Set(rows)];
  const keys = names.map((text) => Buffer.from(bytesOf(text)).toString('latin1'));
  const { texts, places } = sortTexts(keys);
  const values = Uint32Array.from(rows, (text) => places[names.indexOf(text)]!);
  const postings = buildPostings(rows.length, names.length, {
    rows: undefined,
    values,
    length: rows.length,
  });
  return { texts, postings };
}

function attributesOf(status: readonly string[], tags: readonly string[]): Attributes {
  return { status: attributeOf(status), tags: attributeOf(tags) } as unknown as Attributes;
}

test('the most frequent texts are found', () => {
  const random = new Random(7, 'point');
  const any = (): string => `tag ${Math.floor(90 * random.next() * random.next())}`;
  const all = [...Array.from({ length: 800 }, any), ...Array.from({ length: 40 }, () => 'ä"\\')];
  const attributes = attributesOf(['OPEN', 'NEW', 'NEW'], all);
  const expected = frequentTexts(attributes);
  const counts = new Map(all.map((one) => [one, all.filter((other) => other === one).length]));
  const least = Math.min(...expected.tags.map((one) => counts.get(one)!));
  assert.equal(expected.status, ['NEW', 'OPEN']);
  assert.is(expected.tags.length, 50);
  assert.ok([...counts].every(([one, count]) => count <= least || expected.tags.includes(one)));
  assert.ok(expected.tags.includes('ä"\\'));
  assert.equal(frequentTexts(attributes), expected);
});

test('what is empty or long is not offered', () => {
  const { status, tags } = frequentTexts(attributesOf(['', 'NEW'], ['x'.repeat(65), '<b>']));
  assert.equal([status, tags], [['NEW'], ['<b>']]);
});

test.run();
