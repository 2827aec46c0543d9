import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openAddressSource } from '../../../src/reload/source/address.js';
import { closeLater, sha256 } from '../../support/folder.js';
import { countOf, markedLines } from '../../support/marked.js';
import { type Handle, Origin } from '../../support/origin.js';
import { startDownloading } from '../../support/reloading.js';
import { MAIN } from '../../support/service.js';
import { assert, failure, makeFolder, test, until } from '../../support/uvu.js';

/** An origin that is closed at the end, and its address. */
async function openOrigin(prepare: (origin: Origin) => void = () => {}) {
  const origin = new Origin();
  prepare(origin);
  const address = await origin.open();
  closeLater(() => origin.close());
  return { origin, address };
}

async function start(prepare?: (origin: Origin) => void, ...patience: number[]) {
  const { origin, address } = await openOrigin(prepare);
  return { ...(await startDownloading(address, ...patience)), origin };
}

function status(code: number): Handle {
  return (_, response) => void response.writeHead(code).end('x'.repeat(1_000));
}

test('a new object is downloaded and served, the same one is neither', async () => {
  const { origin, look, lookFor, served, current, outcomes, builds } = await start();
  assert.equal(served(), [1, countOf(1)]);
  assert.is(current.generation.parts.dataset.report.createdAt, origin.modifiedAt);
  origin.answers.length = 0;
  for (let i = 0; i < 3; i++) await look();
  assert.equal([...new Set(origin.answers)], ['304']);
  assert.is(builds.begun, 1);
  origin.content = markedLines(2);
  await lookFor(2);
  origin.etag = '"another name for the same"';
  await look();
  assert.equal(outcomes, ['loaded', 'loaded', 'unchanged']);
});

test('a download that breaks off, or in which nothing more comes, goes on where it was', async () => {
  const { origin, look, served, folder } = await start(undefined, 3_000);
  for (const [mark, isBroken] of [
    [2, true],
    [3, false],
  ] as const) {
    origin.content = markedLines(mark);
    origin.answers.length = 0;
    origin.next.push(undefined, undefined, origin.sendPart(1_000, isBroken, folder));
    await look();
    await until('it is served', () => served()[0] === mark);
    assert.ok(origin.answers.includes('206 bytes=1000-'), origin.answers.join());
  }
});

test('a download that was compressed on its way begins anew: its bytes count otherwise', async () => {
  const { origin, look, served, folder } = await start();
  Object.assign(origin, { etag: '"2"', content: markedLines(2) });
  const coded = gzipSync(origin.content, { level: 0 });
  const headers = { ETag: '"2"', 'Content-Encoding': 'gzip', 'Content-Length': coded.length };
  origin.next.push(undefined, undefined, async (_, response) => {
    response.writeHead(200, headers);
    response.write(coded.subarray(0, coded.length >> 1));
    const has = (name: string): boolean => statSync(join(folder, name)).size > 0;
    await until('some of it is kept', () => readdirSync(folder).some(has));
    response.destroy();
  });
  origin.answers.length = 0;
  await look();
  await until('it is served', () => served()[0] === 2);
  assert.not.match(origin.answers.join(), /206|416/);
});

test('half an object that is whole to the server is refused, and the next one served', async () => {
  const { origin, lookFor, current } = await start();
  const whole = markedLines(2);
  origin.content = whole.subarray(0, whole.indexOf('\n', whole.length >> 1) + 20);
  await lookFor(1);
  assert.match(current.stale!.reason, /^http:\/\/127\.0\.0\.1:\d+\/my points\.ndjson: /);
  assert.not.match(current.stale!.reason, /secret|\.tmp/);
  origin.content = whole;
  await lookFor(2);
  assert.is(current.stale, undefined);
});

test('bytes damaged on their way are fetched again under the same ETag: later, or once asked', async () => {
  const whole = markedLines(2);
  const damaged = Buffer.from(whole).fill(0, whole.length >> 1);
  for (const retryMs of [50, 600_000]) {
    const { origin, look, served, errors, builds } = await start(undefined, 60_000, retryMs);
    Object.assign(origin, { etag: '"2"', content: damaged });
    await look();
    if (retryMs > 50) {
      await look();
      assert.is(builds.begun, 2, 'not at each look');
      await look('retry');
    }
    await until('it was read again', () => builds.begun > 2);
    assert.is(errors().length, 1, 'is told once');
    origin.content = whole;
    if (retryMs > 50) await look('retry');
    await until('it is served', () => served()[0] === 2);
  }
});

test('without an ETag an older object is noticed in its place, and one of another length', async () => {
  const { origin, look, lookFor, outcomes } = await start((one) => {
    one.etag = '';
  });
  origin.answers.length = 0;
  await look();
  assert.equal(origin.answers, ['HEAD 200']);
  origin.modifiedAt -= 3_600_000;
  for (const mark of [2, 3]) {
    origin.content = markedLines(mark);
    await lookFor(mark);
  }
  // a server that knows no HEAD
  origin.next.push(status(501), undefined, status(501), undefined);
  origin.modifiedAt -= 3_600_000;
  await look();
  assert.equal(outcomes, ['loaded', 'loaded', 'loaded', 'unchanged']);
});

test('statuses and servers that are gone leave all as it is; what may pass is tried again', async () => {
  const { origin, look, served, current, outcomes, folder } = await start();
  const { next } = origin;
  const fails = async (why: RegExp, end: () => unknown = () => {}): Promise<void> => {
    await look();
    await until(`${why}`, () => why.test(current.stale?.reason ?? ''));
    await end();
    await until('all is well', () => current.stale === undefined);
  };
  next.push(...Array(3).fill(status(404)));
  await fails(/points\.ndjson: the server answers 404 Not Found$/, () => {
    next.length = 0;
    return look();
  });
  next.push(...Array(4).fill(status(500)));
  await fails(/the server answers 500 Internal Server Error$/);
  origin.noChecksum = 500;
  const repair = { noChecksum: 404 };
  await fails(/points\.ndjson\.sha256: the server answers 500/, () =>
    Object.assign(origin, repair),
  );
  await origin.close();
  await fails(/cannot be fetched: connect ECONNREFUSED/, () => {
    origin.content = markedLines(2);
    return origin.open();
  });
  assert.is(served()[0], 2);
  assert.is(outcomes.filter((one) => one === 'failed').length, 4);
  origin.content = markedLines(3);
  next.push(...Array(20).fill(origin.sendPart(1_000, true, folder)));
  await fails(/points\.ndjson: the connection broke off at byte \d+ of \d+$/, () => next.splice(0));
  origin.content = markedLines(4);
  next.push(undefined, undefined, status(403));
  await fails(/the server answers 403 Forbidden$/);
  assert.is(served()[0], 4);
  origin.content = markedLines(5);
  renameSync(folder, `${folder}.aside`);
  const why = /cannot be written: there is no folder .*waypost-/;
  await fails(why, () => renameSync(`${folder}.aside`, folder));
  assert.is(served()[0], 5);
});

test('a server that did not answer is asked again at once, as it took no work', async () => {
  const { origin, look, served } = await start(undefined, 2_000);
  origin.content = markedLines(2);
  origin.unanswered = 1;
  void look();
  await until('the new one is served', () => served()[0] === 2, 15_000);
});

for (const [name, etag] of [
  ['an object that changes while it is read is never mixed', undefined],
  ['without an ETag a broken download begins again, since a second may have two objects', ''],
] as const) {
  test(name, async () => {
    const { origin, look, served, folder } = await start((one) => {
      one.etag = etag;
    });
    origin.content = markedLines(2);
    origin.modifiedAt += 60_000;
    const later = markedLines(3, countOf(2));
    assert.is(later.length, origin.content.length);
    origin.next.push(undefined, undefined, (request, response) => {
      origin.sendPart(1_000, true, folder)(request, response);
      origin.content = later;
    });
    await look();
    await until('the later one is served', () => served()[0] === 3);
    assert.equal(served(), [3, countOf(2)]);
    assert.not.ok(origin.answers.some((one) => one.startsWith('206')));
  });
}

test('name and password of the address are sent, a % among them or not', async () => {
  const { origin, address } = await openOrigin();
  const { host } = new URL(address);
  for (const [given, meant] of Object.entries({ '50%25': '50%', '50%': '50%', '%C3%A4': 'ä' })) {
    const address = `http://job:${given}@${host}/points.ndjson`;
    const folder = makeFolder();
    const source = await openAddressSource({ address, folder, mode: 'off', pollMs: 0 });
    assert.match((await source.list())[0]!.path, `http://${host}/points.ndjson`);
    assert.is(origin.authorization, `Basic ${Buffer.from(`job:${meant}`).toString('base64')}`);
  }
});

test('the checksum beside it decides whether it is whole', async () => {
  const { origin, lookFor, current } = await start((one) => {
    one.checksum = `${sha256(one.content)}  my points.ndjson\n`;
  });
  origin.content = markedLines(2);
  await lookFor(1);
  const why = /points\.ndjson: not whole: .*\/my points\.ndjson\.sha256 says/;
  assert.match(current.stale!.reason, why);
  origin.checksum = `${sha256(origin.content)}  my points.ndjson\n`;
  await lookFor(2);
});

test('a process that ends in the middle of a download leaves nothing after the next start', async () => {
  const { origin, address } = await openOrigin();
  const folder = makeFolder();
  // schemes may be in capitals
  const snapshot = address.replace('http', 'HTTP');
  const flags = ['--snapshot', snapshot, '--downloads', folder, '--journal', 'none', '--port', '0'];
  for (const [signal, files] of [
    ['SIGTERM', 0],
    ['SIGKILL', 1],
  ] as const) {
    origin.next.push(undefined, origin.sendPart(1_000, false, folder));
    const child = spawn(process.execPath, [MAIN, 'serve', ...flags, '--workers', '1'], {
      stdio: 'ignore',
    });
    closeLater(() => child.kill('SIGKILL'));
    await until('it downloads', () => readdirSync(folder).length > 0);
    child.kill(signal);
    await once(child, 'close');
    assert.is(readdirSync(folder).length, files);
  }
  await openAddressSource({ address, folder, mode: 'off', pollMs: 0 });
  assert.equal(readdirSync(folder), []);
});

test('a server is refused that has no validators, or a new one with every answer', async () => {
  const { message } = await failure(start((one) => one.next.push(status(200), status(200))));
  assert.match(message, /names neither ETag nor Last-Modified/);
  let answers = 0;
  const renaming = start((one) => {
    const rename: Handle = (request, response) => {
      one.etag = `"${answers++}"`;
      one.next.push(rename);
      one.serve(request, response);
    };
    one.next.push(rename);
  });
  assert.match((await failure(renaming)).message, /ndjson: each answer has another ETag or Last-/);
  assert.ok(answers < 20);
});

test.run();
