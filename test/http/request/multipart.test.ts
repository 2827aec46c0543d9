import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { refuseBrokenRequest } from '../../../src/http/limits.js';
import { MAX_BODY_BYTES, receiveBody } from '../../../src/http/request/body.js';
import { HttpError } from '../../../src/http/request/http-error.js';
import { readMultipart } from '../../../src/http/request/multipart.js';
import { SharedRoom } from '../../../src/model/turns.js';
import { incomingOf } from '../../../src/posts/media/folder.js';
import { createUploads, type Uploads } from '../../../src/posts/media/upload.js';
import { ask, exchange, type Reply } from '../../support/client.js';
import { sha256 } from '../../support/folder.js';
import { FORM, formOf, makeMediaFolder, part } from '../../support/images.js';
import { dial, listen } from '../../support/sockets.js';
import { assert, test, until } from '../../support/uvu.js';

const MAX_BYTES = 200_000;
const { folder, logger, files } = makeMediaFolder();
const uploads = createUploads(incomingOf(folder, undefined), MAX_BYTES, logger);
const room = new SharedRoom(1_000_000);
const EMPTY = ['.incoming', 'map_data_points'];

const app = fastify({
  clientErrorHandler: refuseBrokenRequest,
  requestTimeout: 2_000,
  http: { connectionsCheckingInterval: 100, headersTimeout: 2_000 },
});
app.setErrorHandler((error: Error, _request, reply) => {
  assert.instance(error, HttpError);
  const { status, body, headers } = error as HttpError;
  return reply.code(status).headers(headers).send(body);
});
await app.register(async (scope) => {
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
  for (const [path, place] of Object.entries({ '/with': uploads, '/without': undefined })) {
    scope.post(path, async (request) => {
      const { fields, image } = await readMultipart(request.raw, {
        uploads: place,
        room,
        address: 'a',
      });
      if (image === undefined) return { fields: [...fields] };
      const { file: _, ...told } = image;
      await uploads.discard(image);
      return { fields: [...fields], image: told };
    });
  }
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;

test.after(() => app.close());
test.after.each(() => {
  assert.equal(files(), EMPTY);
});

function post(parts: readonly Buffer[], path = '/with', end = '--XX--\r\n'): Promise<Reply> {
  const body = Buffer.concat([...parts, Buffer.from(end)]);
  return ask(port, path, { method: 'POST', headers: { 'Content-Type': FORM }, body });
}

/** The head of a form of so many bytes. */
function headOf(bytes: number): string {
  return `POST /with HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: ${bytes}\r\n\r\n`;
}

/** Sends a form, and a request after it over the same connection. */
function postAndGoOn(parts: readonly Buffer[]): Promise<string> {
  const body = formOf(parts);
  const next = 'GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  return exchange(port, headOf(body.length) + body.toString('latin1') + next);
}

/** The head of another image, without its name. */
const NAMELESS = '--XX\r\nContent-Disposition: form-data; name="image"; filename=""\r\n\r\n';

test('fields keep their order, and an image becomes a file', async () => {
  const image = Buffer.from(Array.from({ length: 150_000 }, (_, index) => (index * 7) % 256));
  const reply = await post([
    ...[part('lat', '60.1'), part('tags', 'a'), part('image', image, 'Näkymä.jpg', 'image/jpeg')],
    ...[part('tags', 'b ä'), part('empty', ''), part('other', 'no image', 'x.txt', 'text/plain')],
  ]);
  assert.is(reply.status, 200, reply.text);
  assert.equal(reply.json(), {
    fields: [
      ['lat', ['60.1']],
      ['tags', ['a', 'b ä']],
      ['empty', ['']],
    ],
    image: { name: 'Näkymä.jpg', sha256: sha256(image) },
  });
});

test('a form without a chosen file has no image, and one without a name has one', async () => {
  const none = await post([part('lat', '1'), part('image', '', '', 'application/octet-stream')]);
  assert.equal(none.json(), { fields: [['lat', ['1']]] });
  const nameless = await post([part('image', 'bytes', '')]);
  const digest = sha256(Buffer.from('bytes'));
  assert.equal(nameless.json(), { fields: [], image: { name: '', sha256: digest } });
  const blank = await post([part('image', '', 'x.jpg')]);
  const empty = { name: 'x.jpg', sha256: sha256(Buffer.alloc(0)) };
  assert.equal(blank.json(), { fields: [], image: empty });
  const text = await post([part('image', 'no file')]);
  assert.equal(text.json(), { fields: [['image', ['no file']]] });
});

test('a part of type JSON is text all the same', async () => {
  const json = part('tags', '["a", "b"]', undefined, 'application/json');
  assert.equal((await post([json])).json(), { fields: [['tags', ['["a", "b"]']]] });
});

test('a text that comes as a file or encoded is refused rather than lost', async () => {
  for (const name of ['lat', 'lon', 'comment', 'tags']) {
    const reply = await post([part(name, 'text', 'x.txt')]);
    assert.equal([reply.status, reply.json()], [400, { [name]: ['Not a valid string.'] }]);
  }
  const coding = 'text/plain\r\nContent-Transfer-Encoding';
  const reply = await post([part('comment', 'aGVsbG8=', undefined, `${coding}: base64`)]);
  const comment = ['Got Content-Transfer-Encoding "base64". Expected 7bit, 8bit or binary.'];
  assert.equal([reply.status, reply.json()], [400, { comment }]);
  const plain = await post([part('comment', 'h', undefined, `${coding}: 8BIT`)]);
  assert.equal(plain.json(), { fields: [['comment', ['h']]] });
});

test('an image of the largest size is accepted, and one byte more is not', async () => {
  const most = await post([part('image', Buffer.alloc(MAX_BYTES), 'x.jpg')]);
  assert.is(most.status, 200);
  const more = await post([part('image', Buffer.alloc(MAX_BYTES + 1), 'x.jpg'), part('lat', '1')]);
  assert.is(more.status, 413);
  assert.equal(more.json(), {
    image: [`The image is too large. Expected at most ${MAX_BYTES} bytes.`],
  });
  // refused by its length, before the body is sent
  assert.match(await exchange(port, headOf(1e9)), /^HTTP\/1\.1 413 .*The image is too large/s);
});

test('a connection goes on after a body that was refused', async () => {
  const answers = await postAndGoOn([
    ...[part('image', 'one', 'a.jpg'), part('image', 'two', 'b.jpg')],
    part('rest', 'x'.repeat(100_000)),
  ]);
  assert.match(answers, /^HTTP\/1\.1 400 .*Expected one image, got several\..*HTTP\/1\.1 404 /s);
});

test('too much of anything gets 413', async () => {
  const many = (count: number, one: (index: number) => Buffer): Buffer[] =>
    Array.from({ length: count }, (_, index) => one(index));
  for (const [parts, text] of [
    [many(1001, (i) => part(`f${i}`, '')), 'Too many fields. Expected at most 1000.'],
    [many(11, (i) => part(`f${i}`, '', 'x')), 'Too many files. Expected at most 10.'],
    [[part('a', 'x'.repeat(256 * 1024 + 1))], 'The body is too large.'],
    [many(3, () => part('a', 'x'.repeat(100_000))), 'The body is too large.'],
  ] as const) {
    const { status, text: body } = await post([part('image', 'bytes', 'x.jpg'), ...parts]);
    assert.is(status, 413, body);
    assert.ok(body.includes(text), body);
  }
});

test('a malformed form is refused', async () => {
  const image = part('image', 'bytes', 'x.jpg');
  const ends = ['', '--XX', '--XX\r\nContent-Disp'].map((end) => post([image], '/with', end));
  const types = ['multipart/form-data', 'multipart/form-data; boundary='].map((type) =>
    ask(port, '/with', { method: 'POST', headers: { 'Content-Type': type }, body: 'x' }),
  );
  for (const { status, text } of await Promise.all([...ends, ...types])) {
    assert.is(status, 400, text);
    assert.match(text, /^\{"detail":"Multipart form parse error - /);
  }
  const odd = await post([part('__proto__', 'x'), part('constructor', 'x', 'y')]);
  assert.is(odd.text, '{"fields":[["__proto__",["x"]]]}');
});

test('an instance without a folder for images refuses them and reads the rest', async () => {
  const { status, text } = await post([part('image', 'x', 'x.jpg'), part('lat', '1')], '/without');
  assert.is(status, 400);
  assert.is(text, '{"image":["This instance stores no images: it has no folder for them."]}');
  const none = await post([part('lat', '1'), part('image', '', '')], '/without');
  assert.equal(none.json(), { fields: [['lat', ['1']]] });
});

test('the upload of a client that leaves is removed', async () => {
  const image = part('image', 'x'.repeat(50_000), 'x.jpg').toString('latin1');
  for (const body of [image, image + NAMELESS]) {
    const { socket } = dial(port);
    socket.write(headOf(100_000) + body);
    await until('the upload has begun', () => files()[0] !== EMPTY[0]);
    socket.destroy();
    await until('the upload is gone', () => files()[0] === EMPTY[0]);
  }
});

/** What `read` makes of a request of these bytes, or the error that it ends in. */
async function outcomeOf<Read>(
  bytes: string | Buffer,
  read: (request: IncomingMessage) => Promise<Read>,
): Promise<Partial<Read & HttpError>> {
  let outcome: Promise<Read> | undefined;
  const server = createServer({ highWaterMark: 2 * MAX_BODY_BYTES }, (request) => {
    outcome = read(request.on('error', () => {})).catch((error) => error);
  });
  dial(await listen(server)).socket.write(bytes);
  await until('it is there', () => outcome !== undefined);
  return (await outcome) as Read & HttpError;
}

const BROKEN_OFF = { detail: 'The body broke off.' };

test('a connection that closes before its body is read is a broken body', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n[';
  const { body } = await outcomeOf(head, async (request) => {
    // as for a request that waited for earlier ones
    await new Promise(setImmediate);
    request.socket.destroy();
    return receiveBody(request, room, 'a');
  });
  assert.equal(body, BROKEN_OFF);
});

test('a form that arrived whole is a broken body when its client leaves before all is read', async () => {
  const form = formOf([part('lat', '1'), part('image', Buffer.alloc(100_000), 'x.jpg')]);
  // takes nothing, as on a disk that stands still
  const receive: Uploads['receive'] = (stream) => once(stream, 'end') as Promise<never>;
  const place = { uploads: { ...uploads, receive }, room, address: 'a' };
  const sent = Buffer.concat([Buffer.from(headOf(form.length)), form]);
  for (const isLate of [true, false]) {
    const { body } = await outcomeOf(sent, async (request) => {
      const closed = isLate ? until('it has closed', () => request.closed) : undefined;
      const read = closed?.then(() => readMultipart(request, place));
      const reading = read ?? readMultipart(request, place);
      await until('it is whole', () => request.complete);
      assert.not(request.readableEnded);
      request.socket.destroy();
      return reading;
    });
    assert.equal(body, BROKEN_OFF, `late: ${isLate}`);
  }
});

test('a body that arrived before it is read is complete, within the usual bound', async () => {
  for (const length of [MAX_BODY_BYTES, MAX_BODY_BYTES + 1]) {
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
    // more than a piece
    const sent = Buffer.concat([Buffer.from(head), Buffer.alloc(length)]);
    const found = await outcomeOf(sent, async (request) => {
      await until('it is whole', () => request.complete);
      return receiveBody(request, room, 'a');
    });
    if (length > MAX_BODY_BYTES) assert.is(found.status, 413);
    else assert.is(found.length, length);
  }
});

test('an upload that takes too long gets 408 and leaves nothing', async () => {
  const image = part('image', 'x'.repeat(50_000), 'x.jpg').toString('latin1');
  // nor with the head of a second image, which is refused
  const answers = [image, image + NAMELESS].map((body) => exchange(port, headOf(100_000) + body));
  for (const answer of await Promise.all(answers)) {
    const why = /^HTTP\/1\.1 408 .*\r\n\r\n\{"detail":"The request took too long to arrive\."\}$/s;
    assert.match(answer, why);
  }
  await until('the uploads are gone', () => files()[0] === EMPTY[0]);
});

test('a folder that cannot be written gets 503, without its name', async () => {
  const incoming = join(folder, '.incoming');
  rmSync(incoming, { recursive: true });
  writeFileSync(incoming, '');
  try {
    const { status, text, headers } = await post([part('image', 'bytes', 'x.jpg')]);
    assert.equal([status, headers['retry-after']], [503, '1']);
    assert.is(text, '{"detail":"The image could not be stored; try again in a moment."}');
    // the rest of the body is read, so that the connection's next request is found
    const answers = await postAndGoOn([part('image', Buffer.alloc(190_000), 'x.jpg')]);
    assert.match(answers, /^HTTP\/1\.1 503 .*HTTP\/1\.1 404 /s, answers);
  } finally {
    rmSync(incoming);
    mkdirSync(incoming);
  }
});

test.run();
