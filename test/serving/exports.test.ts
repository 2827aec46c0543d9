import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { openAnswer, postKeyed } from '../support/client.js';
import { linesOf } from '../support/engine.js';
import { markedRecords } from '../support/marked.js';
import { blockOf, point, writeNative } from '../support/native.js';
import { startOwnService } from '../support/own-service.js';
import { dial } from '../support/sockets.js';
import { assert, failure, makeFolder, test, until } from '../support/uvu.js';

// more bytes than sockets hold, so that the reader decides how far an export gets
const POINTS = 1_000;
const COMMENT = 'x'.repeat(16_000);
const PATH = '/export/points.ndjson';
/** Pause between two posts. */
const PAUSE_MS = 10;
const folder = makeFolder();
const snapshot = join(folder, 'points.waypost');
/** Points in each snapshot. */
const sizes = [0, 1, 2, 3].map((i) => POINTS - i);
const records = markedRecords(0, POINTS).map((one) => point({ ...one, comment: COMMENT }));
for (const [i, count] of sizes.entries()) {
  writeNative(join(folder, `${i}.waypost`), [blockOf(records.slice(0, count))]);
}
put(0);
const MOST = 4;
const service = await startOwnService([
  ...['--snapshot', snapshot, '--settle', '0ms', '--compress', '--max-exports', `${MOST}`],
]);

/** An export over HTTP/1.0, read once standard input ends: Node's reader may hide a reset. */
const READ_LATE = `exec 3<>/dev/tcp/127.0.0.1/${service.port}
printf 'GET ${PATH} HTTP/1.0\\r\\n\\r\\n' >&3; read -r; cat <&3`;

/** Begins an export without reading its body. */
function open(headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  return openAnswer(service.port, PATH, { headers });
}

/** The value of a metric; the name includes labels. */
async function metric(name: string): Promise<number> {
  const lines = (await service.get('/metrics')).text.split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length));
}

const total = (outcome: string): string => `waypost_exports_total{outcome="${outcome}"}`;

function becomes(name: string, value: number): Promise<void> {
  return until(`${name} ${value}`, async () => (await metric(name)) === value);
}

function put(index: number): void {
  copyFileSync(join(folder, `${index}.waypost`), `${snapshot}.next`);
  renameSync(`${snapshot}.next`, snapshot);
}

test('a reader that pauses holds one piece, and gets the whole export afterwards', async () => {
  const answer = await open();
  await becomes('waypost_exports', 1);
  const { status } = await service.get('/rest/map_data_points/?page_size=1');
  assert.is(status, 200);
  const unsent = await service.get('/metrics');
  const held = Number(/^waypost_unsent_bytes\{.*\} (\d+)$/m.exec(unsent.text)![1]);
  assert.ok(held <= 2 ** 19, `${held} bytes`);
  assert.is(linesOf(await buffer(answer)).length, POINTS);
  await becomes(total('whole'), 1);
  assert.is(await metric('waypost_exports'), 0);
});

test('a reader that leaves frees its place; beyond the bound there is 503', async () => {
  const rounds = 3;
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(Array.from({ length: MOST }, () => open()));
    const refused = await service.get(PATH);
    assert.equal([refused.status, refused.headers['retry-after']], [503, '10']);
    for (const answer of answers) answer.destroy();
    await becomes('waypost_exports', 0);
  }
  assert.is(await metric(total('refused')), rounds);
  // large socket buffers may hold a whole export; one more is the first test's
  const [left, whole] = [await metric(total('left')), await metric(total('whole'))];
  assert.ok(left >= 1 && left + whole === MOST * rounds + 1, `${left} left, ${whole} whole`);
  assert.is((await service.get(`${PATH}?bbox=24,60,25,61`)).status, 200);
});

test('a client that leaves frees the place of its export, and the next one never begins', async () => {
  const one = `GET ${PATH} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const { text } = await service.get('/metrics');
  const ended = (metrics: string): number =>
    [...metrics.matchAll(/^waypost_exports_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  const { socket } = dial(service.port);
  socket.pause();
  socket.write(one + one);
  await until('one is begun', async () => (await metric('waypost_exports')) === 1);
  socket.resetAndDestroy();
  await until('none is under way', async () => (await metric('waypost_exports')) === 0);
  assert.is(ended((await service.get('/metrics')).text), ended(text) + 1);
});

test('a compressed export decompresses to the plain one', async () => {
  const plain = await service.get(PATH);
  const answer = await open({ 'Accept-Encoding': 'br, gzip' });
  assert.is(answer.headers['content-encoding'], 'gzip');
  assert.ok(gunzipSync(await buffer(answer)).equals(plain.body));
  const parquet = await service.get('/export/points.parquet?bbox=24,60,25,61', {
    headers: { 'Accept-Encoding': 'gzip' },
  });
  assert.is(parquet.headers['content-encoding'], undefined);
});

test('each export has one state, and a third old generation ends the oldest exports', async () => {
  const posted: { readonly id: number; readonly sequence: number }[] = [];
  let isOver = false;
  const poster = (async () => {
    for (let i = 0; !isOver; i++) {
      const { status, headers, json } = await postKeyed(service, `post-${i}`);
      assert.is(status, 201);
      posted.push({ id: json<{ id: number }>().id, sequence: Number(headers['waypost-sequence']) });
      await delay(PAUSE_MS);
    }
  })();
  // with the first of the loop, two exports of the first state; over HTTP/1.0 no last chunk lacks
  const oldest = spawn('bash', ['-c', READ_LATE], { stdio: ['pipe', 'ignore', 'ignore'] });
  const answers: IncomingMessage[] = [];
  for (const [i, exports] of [2, 3, 4, 3].entries()) {
    if (i > 0) {
      put(i);
      await becomes('waypost_reloads_total{outcome="loaded"}', i + 1);
    }
    if (i === 3) await becomes(total('ended'), 2);
    answers.push(await open());
    await becomes('waypost_exports', exports);
    assert.is(await metric('waypost_exports_old_generations'), Math.min(i, 2));
  }
  isOver = true;
  await poster;
  assert.ok(posted.length > 20, `${posted.length} posts`);
  assert.is((await failure(buffer(answers.shift()!))).code, 'ECONNRESET');
  oldest.stdin.end();
  assert.is((await once(oldest, 'close'))[0], 1, 'cat could not read to the end');
  for (const [i, answer] of answers.entries()) {
    const state = String(answer.headers['waypost-snapshot']).replaceAll('"', '').split('.');
    const last = Number.parseInt(state[2]!, 36);
    const ids = linesOf(await buffer(answer)).map((line) => JSON.parse(line).id as number);
    const expected = posted.filter(({ sequence }) => sequence <= last).map(({ id }) => id);
    assert.is(expected.length, last);
    assert.equal(ids.slice(sizes[i + 1]), expected, `state ${state}`);
    assert.is(new Set(ids).size, sizes[i + 1]! + last);
  }
  await becomes('waypost_exports_old_generations', 0);
  assert.ok(service.logs.some(({ msg }) => msg === 'answer broken off'));
});

test.run();
