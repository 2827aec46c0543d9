import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOf, NOBODY, numberOf, type Postings, rowsWith } from '../../src/index/postings.js';
import { renderPoint } from '../../src/model/point.js';
import {
  attributesOfTexts,
  type Note,
  pointOf,
  STATUSES,
  scatterNotes,
  TAGS,
} from '../support/notes.js';

/** The rows of a value, whichever form they have. */
function listed(postings: Postings, value: number, count: number): number[] {
  if (value < 0) return [];
  const { rows, bits } = rowsWith(postings, value);
  if (bits === undefined) return [...rows];
  const all = Array.from({ length: count }, (_, row) => row);
  return all.filter((row) => (bits[row >>> 5]! >>> (row & 31)) & 1);
}

function rowsOf(notes: readonly Note[], test: (note: Note) => boolean): number[] {
  return [...notes.entries()].filter(([, note]) => test(note)).map(([row]) => row);
}

const notes = scatterNotes(99, 5_000);
const attributes = attributesOfTexts(notes.map((note) => renderPoint(pointOf(note))));

test('each value has the rows whose records say so, frequent ones by bits and rare ones by lists', () => {
  const { status, tags, createdBy, isProcessed, hasImage } = attributes;
  const { length } = notes;
  const forms = new Set<string>();
  for (const text of ['new', ...STATUSES, ...TAGS]) {
    const value = numberOf(status.texts, bytesOf(text));
    assert.equal(
      listed(status.postings, value, length),
      rowsOf(notes, (note) => note.status === text),
      text,
    );
    const tag = numberOf(tags.texts, bytesOf(text));
    const found = listed(tags.postings, tag, length);
    assert.equal(
      found,
      rowsOf(notes, (note) => note.tags?.includes(text) ?? false),
      text,
    );
    if (tag >= 0) forms.add(rowsWith(tags.postings, tag).bits === undefined ? 'list' : 'bits');
  }
  assert.is(forms.size, 2);
  for (const [value, user] of createdBy.users.entries()) {
    assert.equal(
      listed(createdBy.postings, value, length),
      rowsOf(notes, (note) => (note.createdBy ?? NOBODY) === user),
    );
  }
  for (const value of [0, 1]) {
    assert.equal(
      listed(isProcessed, value, length),
      rowsOf(notes, (note) => note.isProcessed === (value === 1)),
    );
    assert.equal(
      listed(hasImage, value, length),
      rowsOf(notes, (note) => note.hasImage === (value === 1)),
    );
  }
});

test('texts and users stand in ascending order, each once', () => {
  const { status, tags, createdBy } = attributes;
  for (const { bytes, ends } of [status.texts, tags.texts]) {
    const texts = [...ends].map((end, i) =>
      Buffer.from(bytes.subarray(i === 0 ? 0 : ends[i - 1], end)).toString('latin1'),
    );
    assert.equal(texts, [...new Set(texts)].sort());
  }
  const users = [...createdBy.users];
  assert.equal(
    users,
    [...new Set(users)].sort((a, b) => a - b),
  );
  assert.is(users[0], NOBODY);
});

test('a record in another form has no attributes, and none is read beyond its end', () => {
  const [whole] = notes.map((note) => renderPoint(pointOf({ ...note, tags: ['x', 'y'] })));
  const broken = Array.from(whole!, (_, length) => whole!.slice(0, length)).filter(
    (text) => text.length >= 2,
  );
  const texts = [...broken, '{}', '{"id":1}', '{"id":1,"status":"A"}', ' '.repeat(300)];
  const swapped = texts.flatMap((text) => [text, text.replaceAll('"', "'"), text.toUpperCase()]);
  const { tags, hasImage, createdBy } = attributesOfTexts(swapped);
  assert.is(tags.texts.ends.length, 0);
  assert.is(hasImage.counts[1], 0);
  assert.equal([...createdBy.users], [NOBODY]);
});

test('no points', () => {
  const { status, createdBy } = attributesOfTexts([]);
  assert.is(status.texts.ends.length, 0);
  assert.is(numberOf(status.texts, bytesOf('NEW')), -1);
  assert.equal([...createdBy.postings.counts], [0]);
});

test.run();
