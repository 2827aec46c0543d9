import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FRESH_MEMORY } from '../../../src/http/formats/format.js';
import { PageWriter } from '../../../src/http/pages/writer.js';
import { shownText } from '../../support/html.js';

/** What a browser shows of HTML without tags. */
function shown(html: string): string {
  const text = html.replaceAll(/<\/?[biu]>/g, '');
  assert.not.match(text, /[<>]/);
  return shownText(text);
}

function readable(...pieces: string[]): string {
  const writer = new PageWriter(FRESH_MEMORY);
  for (const piece of pieces) writer.json(Buffer.from(piece));
  return shown(writer.finish().toString());
}

test('JSON is indented as JSON.stringify does', () => {
  for (const json of [
    '{}',
    '[]',
    '[{},[]]',
    '{"a":[1,true,null],"b":{"c":"x,y: {[\\"\\\\"}}',
    '7',
  ]) {
    assert.is(readable(json), JSON.stringify(JSON.parse(json), null, 2));
  }
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary', maxDepth: 6 }), (json) => {
      assert.is(readable(json), JSON.stringify(JSON.parse(json), null, 2));
    }),
    { numRuns: 2000 },
  );
});

test('white space between values makes no difference', () => {
  assert.is(readable(' {\n"a b" :\t[ 1 , 2 ]\r\n} '), '{\n  "a b": [\n    1,\n    2\n  ]\n}');
});

test('JSON may come in pieces, wherever no text is cut', () => {
  const whole = readable('{"results":[{"id":1,"tags":[]},{"id":2}]}');
  assert.is(readable('{"results":[', '{"id":1,"tags":[', ']}', ',', '{"id":2}', ']}'), whole);
  assert.is(readable('{"results":[', ']}'), '{\n  "results": []\n}');
});

test('memory grows with what is written', () => {
  const text = JSON.stringify('<&"\'>'.repeat(50_000));
  assert.is(readable(text), text);
  const deep = '['.repeat(1000) + ']'.repeat(1000);
  assert.is(readable(deep).replaceAll(/\s/g, ''), deep);
});

test.run();
