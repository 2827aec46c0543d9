import { quote, show } from '../../src/model/quote.js';
import { assert, test } from '../support/uvu.js';

test('a value stands in quotes, and means the same to whoever reads JSON', () => {
  for (const text of [
    ...['', 'a "b" \\', 'Övergång 日本 👋', '\0\x1b[2J\r\n', '\x9b2J', '\u202eabc\u2069'],
  ]) {
    assert.is(JSON.parse(quote(text)), text);
  }
  assert.is(quote('x'.repeat(61)), `"${'x'.repeat(60)}…"`);
});

test('no value steers the terminal that shows it, or turns round what stands beside it', () => {
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code);
    // controls, separators of lines, and marks of direction; alone they are nothing to see
    if (!/[\p{Cc}\u2028\u2029]|\p{Bidi_Control}/u.test(character)) continue;
    assert.is(show([character]), `[${quote(character)}]`);
    assert.match(quote(character), /^"\\[\w"\\]+"$/, code.toString(16));
  }
});

test.run();
