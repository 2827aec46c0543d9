import { TextNumbers } from '../../src/formats/attributes.js';
import { assert, test } from '../support/uvu.js';

test('equal texts have one number, in the order in which they are met, and different ones never share any', () => {
  const numbers = new TextNumbers();
  const met: string[] = [];
  for (let i = 0; i < 50_000; i++) {
    // of many lengths, at many places, and some more often than others; more than the cache holds
    const text = i % 97 === 0 ? '' : 'tag '.repeat(i % 7) + String((i * i) % 5_000);
    const source = Buffer.from(`${'#'.repeat(i % 5)}${text}#`);
    const number = numbers.add(source, i % 5, source.length - 1);
    if (number === met.length) met.push(text);
    assert.is(met[number], text);
  }
  assert.is(new Set(met).size, met.length);
  assert.ok(met.length > 2_000);
  assert.equal(numbers.keys(), met);
  assert.is(numbers.addText(met[1_000]!), 1_000);
});

test.run();
