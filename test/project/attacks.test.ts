import { ATTACKS, attackOf } from '../../bench/attacks/kinds.js';
import { answerReader } from '../../bench/generators/answers.js';
import { assert, test } from '../support/uvu.js';

const ANSWERS: Readonly<Record<string, string>> = {
  200: 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX: y\r\n\r\n\r\n\r\nabc',
  304: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
  404: 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n',
  503: 'HTTP/1.1 503 Service Unavailable\r\ncontent-length:2\r\n\r\nno',
};

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';

function statusesOf(pieces: readonly Buffer[]): string[] {
  const found: string[] = [];
  const read = answerReader((status) => found.push(status));
  for (const piece of pieces) read(piece);
  return found;
}

test('answers are told apart however the bytes are cut, each once it is whole', () => {
  const bytes = Buffer.from(Object.values(ANSWERS).join(''));
  for (let size = 1; size <= bytes.length; size++) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    assert.equal(statusesOf(pieces), Object.keys(ANSWERS), `${size} bytes at a time`);
  }
  for (const [status, answer] of [...Object.entries(ANSWERS), ['200', CHUNKED] as const]) {
    const whole = Buffer.from(answer);
    const each = Array.from(whole, (byte) => Buffer.of(byte));
    const found = [[whole], each, each.slice(0, -1)].map(statusesOf);
    assert.equal(found, [[status], [status], []], answer);
  }
});

test('an attack is found by its name, and one that does not exist is refused', () => {
  for (const attack of ATTACKS) assert.is(attackOf(attack.name), attack);
  assert.throws(() => attackOf('flood'), /"flood"; there are heavy-circles, /);
});

test.run();
