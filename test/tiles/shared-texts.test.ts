import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedTexts } from '../../src/tiles/shared-texts.js';

test('equal texts have one place, and different ones never share any', () => {
  const texts = new SharedTexts(800);
  const written: string[] = [];
  const write = (source: Uint8Array, from: number, to: number): number =>
    written.push(Buffer.from(source.subarray(from, to)).toString()) - 1;
  for (let i = 0; i < 5_000; i++) {
    // of many lengths, at many places, and some more often than others
    const text = 'tag '.repeat(i % 7) + String((i * i) % 500);
    const source = Buffer.from(`${'#'.repeat(i % 5)}${text}#`);
    const place = texts.placeOf(source, i % 5, source.length - 1, write);
    assert.is(written[place], text);
  }
  // a text that finds no slot is written again, which is rare
  const distinct = new Set(written).size;
  assert.ok(written.length < 1.1 * distinct, `${written.length} for ${distinct} texts`);
});

test('more texts than there is room for are written again, but never mixed up', () => {
  const texts = new SharedTexts(4);
  const written: string[] = [];
  const write = (source: Uint8Array): number => written.push(Buffer.from(source).toString()) - 1;
  for (let i = 0; i < 1_000; i++) {
    const text = String(i % 100);
    assert.is(written[texts.placeOf(Buffer.from(text), 0, text.length, write)], text);
  }
});

test.run();
