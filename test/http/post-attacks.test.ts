import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, LIST, type Reply } from '../support/client.js';
import { FORM, formOf, JPEG, part } from '../support/images.js';
import { startOwnService } from '../support/own-service.js';
import { dial, hangUp, type Line } from '../support/sockets.js';
import { assert, makeFolder, test, until } from '../support/uvu.js';

const ATTACKER = '198.51.100.1';
const OTHER = '203.0.113.7';
const JSON_TYPE = 'application/json';
const HTML = { Accept: 'text/html' };

const home = makeFolder();
const incoming = join(home, '.incoming');
mkdirSync(join(home, 'map_data_points'));
// the attacker's bodies must not time out before the test on a slow machine is done
const patience = ['--request-timeout', '5m', '--upload-timeout', '5m'];
const service = await startOwnService(['--media', home, '--trust-proxy', ...patience]);

test.after.each(async () => {
  hangUp();
  await until('no upload is left', () => readdirSync(incoming).length === 0);
});

function post(body: string | Buffer, type: string, more: Record<string, string> = {}) {
  const headers = { 'Content-Type': type, 'X-Forwarded-For': OTHER, ...more };
  return service.get(LIST, { method: 'POST', body, headers });
}

const PLACE = [part('lat', '10.5'), part('lon', '-20.25')];

function postImage(more: Record<string, string> = {}): Promise<Reply> {
  return post(formOf([...PLACE, part('image', JPEG, 'a.jpg')]), FORM, more);
}

/** Sends the attacker's post without its end. */
function sendUnfinished(bytes: Buffer, type: string): Line {
  const line = dial(service.port);
  const head = `POST ${LIST} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${ATTACKER}\r\nContent-Type: ${type}\r\n`;
  line.socket.write(`${head}Content-Length: ${bytes.length + 1}\r\n\r\n`);
  line.socket.write(bytes);
  return line;
}

function refused(sent: readonly Line[]): number {
  return sent.filter(({ answer }) => answer.startsWith('HTTP/1.1 503')).length;
}

test('the answer to a bad post is small, whatever its size', async () => {
  const place = '"lat":"10.5","lon":"-20.25"';
  const cases: [status: number, body: string, type: string][] = [
    [413, `lat=1&lon=2${'&tags='.repeat(40_000)}`, 'application/x-www-form-urlencoded'],
    [400, `lat=1&lon=2${'&tags='.repeat(90)}`, 'application/x-www-form-urlencoded'],
    [400, `{${place},"tags":[${'[],'.repeat(80_000)}[]]}`, JSON_TYPE],
    [400, `{${place},"tags":[${'0,'.repeat(5_000)}0]}`, JSON_TYPE],
    [400, `{${place},"tags":${'['.repeat(120_000)}${']'.repeat(120_000)}}`, JSON_TYPE],
    [400, `{${place},"comment":${JSON.stringify('\u0001'.repeat(12_000))}}`, JSON_TYPE],
    [413, `{${place},"comment":"${'x'.repeat(256 * 1024)}"}`, JSON_TYPE],
  ];
  for (const [status, body, type] of cases) {
    const reply = await post(body, type);
    assert.is(reply.status, status, body.slice(0, 60));
    assert.ok(reply.text.length < 2_000, reply.text.slice(0, 300));
  }
  const shown = await post(`lat=x&comment=${'%3C'.repeat(70_000)}`, cases[0]![2], HTML);
  assert.is(shown.status, 400);
  assert.ok(shown.text.length < 50_000, `${shown.text.length}`);
});

test('unfinished bodies have bounded room, and are ended for bodies of another address', async () => {
  const before = process.memoryUsage().arrayBuffers;
  const piece = Buffer.from(`{"comment":"${'x'.repeat(255_000)}`);
  const sent = Array.from({ length: 320 }, () => sendUnfinished(piece, JSON_TYPE));
  await until('there is no more room', () => refused(sent) >= 40);
  const held = process.memoryUsage().arrayBuffers - before;
  assert.ok(held < 120_000_000, `${held}`);
  const reply = await post('{"lat":"10.5","lon":"-20.25"}', JSON_TYPE);
  assert.is(reply.status, 201, reply.text);
});

test('slow uploads of one address do not stop uploads of another', async () => {
  const slow = Array.from({ length: 80 }, () =>
    sendUnfinished(Buffer.concat([...PLACE, part('image', JPEG, 'slow.jpg')]), FORM),
  );
  await until('there is no more room', () => refused(slow) === 16);
  const oldest = slow.filter((line) => refused([line]) === 0).slice(0, 3);
  for (const reply of await Promise.all([0, 1, 2].map(() => postImage()))) {
    assert.is(reply.status, 201, reply.text);
  }
  await until('three made room', () => refused(slow) === 19);
  assert.is(refused(oldest), 3);
  assert.match(oldest[0]!.answer, /"The image could not be stored; try again in a moment\."/);
});

test('a form whose raw JSON is invalid leaves no upload', async () => {
  const body = formOf([part('_content', '{bad'), part('image', JPEG, 'a.jpg')]);
  const reply = await post(body, FORM, HTML);
  assert.is(reply.status, 400);
  assert.equal(readdirSync(incoming), []);
});

test('a folder of uploads that was removed is made again', async () => {
  rmSync(incoming, { recursive: true });
  assert.is((await postImage()).status, 201);
});

test('chunks in a request of HTTP/1.0 are refused, and nothing after them is read', async () => {
  const body = '1d\r\n{"lat":"10.5","lon":"-20.25"}\r\n0\r\n\r\n';
  const head = `POST ${LIST} HTTP/1.0\r\nConnection: keep-alive\r\nContent-Type: ${JSON_TYPE}\r\n`;
  const next = 'GET /health/live HTTP/1.0\r\n\r\n';
  const request = `${head}Transfer-Encoding: chunked\r\n\r\n${body}${next}`;
  const answer = await exchange(service.port, request);
  assert.match(answer, /^HTTP\/1\.1 400 .*Got Transfer-Encoding in a request of HTTP\/1\.0/s);
  assert.is(answer.match(/HTTP\/1\.1 /g)?.length, 1, answer);
});

test.run();
