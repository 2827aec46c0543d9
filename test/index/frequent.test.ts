import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { generatePoint } from '../../src/cli/generate/notes.js';
import { Random } from '../../src/cli/generate/random.js';
import { appendToDelta, createDelta, type Delta } from '../../src/index/delta.js';
import { frequentTexts } from '../../src/index/frequent.js';
import {
  type Attributes,
  buildPostings,
  bytesOf,
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

/** A delta of points with one of these tags each. */
function deltaOf(tags: readonly string[]): Delta {
  const delta = createDelta({ rows: 1_000, bytes: 1_000_000 });
  appendToDelta(delta, pointsWith(tags, 1));
  return delta;
}

function pointsWith(tags: readonly string[], first: number) {
  const random = new Random(1, 'point');
  return tags.map((tag, i) => {
    const point = { ...generatePoint(random, first + i), status: 'NEW', tags: [tag, tag] };
    return { sequence: first + i, point, record: Buffer.from('{}') };
  });
}

test('the most frequent texts are found, the same before and after a merge', () => {
  const random = new Random(7, 'point');
  const any = (): string => `tag ${Math.floor(90 * random.next() * random.next())}`;
  const old = Array.from({ length: 500 }, any);
  const fresh = [...Array.from({ length: 300 }, any), ...Array.from({ length: 40 }, () => 'ä"\\')];
  const all = [...old, ...fresh];
  const expected = frequentTexts(attributesOf(['OPEN', ...fresh.map(() => 'NEW')], all), undefined);
  const counts = new Map(all.map((one) => [one, all.filter((other) => other === one).length]));
  const least = Math.min(...expected.tags.map((one) => counts.get(one)!));
  assert.is(expected.tags.length, 50);
  assert.ok([...counts].every(([one, count]) => count <= least || expected.tags.includes(one)));
  assert.ok(expected.tags.includes('ä"\\'));

  const attributes = attributesOf(['OPEN'], old);
  const delta = deltaOf(fresh.slice(0, 200));
  frequentTexts(attributes, delta);
  appendToDelta(delta, pointsWith(fresh.slice(200), 201));
  assert.equal(frequentTexts(attributes, delta), expected);
});

test('what is empty or long is not offered', () => {
  const { status, tags } = frequentTexts(
    attributesOf(['', 'NEW'], ['x'.repeat(65), '<b>']),
    undefined,
  );
  assert.equal([status, tags], [['NEW'], ['<b>']]);
});

test.run();
