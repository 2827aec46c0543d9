import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FRESH_MEMORY } from '../../../src/http/formats/format.js';
import { html } from '../../../src/http/pages/html.js';
import { PageWriter, readableJson } from '../../../src/http/pages/writer.js';
import { shownText } from '../../support/html.js';

/** What a browser shows of HTML without tags. */
function shown(html: string): string {
  const text = html.replaceAll(/<\/?[biu]>/g, '');
  assert.not.match(text, /[<>]/);
  return shownText(text);
}

function readable(json: string): string {
  return shown(readableJson(json).text);
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

test('what is no JSON shows as it is', () => {
  for (const text of ['{broken', '</pre><b>', '', '{"a":1}}']) assert.is(readable(text), text);
});

test('memory grows with what is written', () => {
  const text = '<&"\'>\u20ac'.repeat(50_000);
  const writer = new PageWriter(FRESH_MEMORY);
  for (const part of ['a', text, 'b', text]) writer.html(html`${part}`);
  assert.is(shown(writer.finish().toString()), `a${text}b${text}`);
});

test('a long text and a deep list are readable', () => {
  const text = JSON.stringify('<&"\'>'.repeat(50_000));
  assert.is(readable(text), text);
  const deep = '['.repeat(1000) + ']'.repeat(1000);
  assert.is(readable(deep).replaceAll(/\s/g, ''), deep);
});

test.run();
