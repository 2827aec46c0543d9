import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { escapeHtml, html, readableJson } from '../../../src/http/pages/html.js';
import { shownText } from '../../support/documents.js';
import { rounds } from '../../support/soak.js';

test('any text shows as itself, in an element and in an attribute', () => {
  const text = fc.string({ unit: 'binary' });
  const hostile = fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '&',
    '</b>',
    '&lt;',
    '<!--',
    '\u202e',
    '`',
    '=',
  );
  const mixed = fc.array(fc.oneof(text, hostile)).map((parts) => parts.join(''));
  fc.assert(
    fc.property(mixed, (value) => {
      const made = html`<b title="${value}">${value}</b>`.text;
      const [, attribute, inside] = /^<b title="([^"<>]*)">([^<>"']*)<\/b>$/s.exec(made)!;
      assert.is(shownText(attribute!), value);
      assert.is(shownText(inside!), value);
    }),
    { numRuns: rounds(1000) },
  );
});

test('markup, lists, numbers and nothing stand in templates as they are', () => {
  const inner = html`<i>${'<'}</i>`;
  assert.is(
    html`${inner}${[1, inner, '&']}${undefined}${false}`.text,
    '<i>&lt;</i>1<i>&lt;</i>&amp;',
  );
  assert.is(escapeHtml('plain'), 'plain');
});

/** What a writer makes of JSON with a link behind `id`. */
function linked(json: string): string {
  const links = [{ key: 'id', href: (value: string | number) => `/${value}` }];
  return readableJson(json, links).text.replaceAll(/\s+/g, '');
}

test('keys, texts and literals are told apart, and values of some keys are linked', () => {
  assert.is(
    linked('{"a":"id","b":[null,1.5]}'),
    '{<b>"a"</b>:<i>"id"</i>,<b>"b"</b>:[<u>null</u>,<u>1.5</u>]}',
  );
  assert.is(linked('{"id":7}'), '{<b>"id"</b>:<ahref="/7"><u>7</u></a>}');
  assert.match(linked('{"id":"\\"><x\\u0027"}'), '<ahref="/&quot;&gt;&lt;x&#39;"><i>');
  for (const json of [
    '{"id":[1]}',
    '{"id":{}}',
    '{"id":null}',
    '{"id":tru',
    '{"id":"x',
    '{"id":',
  ]) {
    assert.not.match(linked(json), '<a');
  }
});

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
    { numRuns: rounds(2000) },
  );
});

test('white space between values makes no difference', () => {
  assert.is(readable(' {\n"a b" :\t[ 1 , 2 ]\r\n} '), '{\n  "a b": [\n    1,\n    2\n  ]\n}');
});

test('what is no JSON shows as it is', () => {
  for (const text of ['{broken', '</pre><b>', '', '{"a":1}}']) assert.is(readable(text), text);
});

test('a long text and a deep list are readable', () => {
  const text = JSON.stringify('<&"\'>'.repeat(50_000));
  assert.is(readable(text), text);
  const deep = '['.repeat(1000) + ']'.repeat(1000);
  assert.is(readable(deep).replaceAll(/\s/g, ''), deep);
});

test.run();
