import { ATTACKS, attackOf } from '../../bench/attacks/kinds.js';
import { answerReader } from '../../bench/generators/answers.js';
import { assert, test } from '../support/uvu.js';

const ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX: y\r\n\r\n\r\n\r\nabc',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
  'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length:2\r\n\r\nno',
];

test('answers are told apart however the bytes are cut', () => {
  const bytes = Buffer.from(ANSWERS.join(''));
  for (let size = 1; size <= bytes.length; size++) {
    const found: string[] = [];
    const read = answerReader((status) => found.push(status));
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
    assert.equal(found, ['200', '304', '404', '503'], `${size} bytes at a time`);
  }
});

test('an answer counts once it is whole', () => {
  const found: string[] = [];
  const read = answerReader((status) => found.push(status));
  read(Buffer.from(ANSWERS[0]!.slice(0, -1)));
  assert.equal(found, []);
  read(Buffer.from('c'));
  assert.equal(found, ['200']);
});

test('an answer in chunks counts with its last one', () => {
  const found: string[] = [];
  const read = answerReader((status) => found.push(status));
  const bytes = Buffer.from(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  );
  for (const byte of bytes.subarray(0, -1)) read(Buffer.of(byte));
  assert.equal(found, []);
  read(bytes.subarray(-1));
  assert.equal(found, ['200']);
});

test('an attack is found by its name, and one that does not exist is refused', () => {
  for (const attack of ATTACKS) assert.is(attackOf(attack.name), attack);
  assert.throws(() => attackOf('flood'), /"flood"; there are heavy-circles, /);
});

test.run();
