import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Load, startLoad } from '../support/load.js';
import { countOf, markedLines, markedNative, replaceFile } from '../support/marked.js';
import { putTogether, takeApart } from '../support/native.js';
import { metricsOf, readyOf } from '../support/operating.js';
import { MAIN, type Service, startService } from '../support/service.js';
import { assert, makeFile, makeFolder, test, testUnless, until } from '../support/uvu.js';

const SETTLE = ['--settle', '100ms', '--admin-token', 'secret'];
const ADMIN = { Authorization: 'Bearer secret' };
const isRoot = process.getuid?.() === 0;
/** Starts a command of root without root's privileges, so that file permissions apply. */
const WITHOUT_PRIVILEGES = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];
let mark = 1;

async function begin(launcher: readonly string[] = []): Promise<[service: Service, path: string]> {
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  const path = join(folder, 'points');
  writeFileSync(path, markedLines(mark));
  return [await startService(['--snapshot', path, ...SETTLE], {}, launcher), path];
}

/** Waits until the service has refused its file, and reports that everywhere. */
async function refuses(service: Service, what: string, reason: RegExp): Promise<void> {
  const wanted = async (): Promise<boolean> =>
    reason.test((await readyOf(service, ADMIN)).reason ?? '');
  await until(`${what} is refused`, wanted).catch(async (error: Error) => {
    throw new Error(`${error.message}; ${(await service.get('/health/ready')).text}`);
  });
  const reply = await service.get('/health/ready');
  const { stale, points, since } = await readyOf(service);
  assert.equal([reply.status, stale, points], [200, true, countOf(mark)], what);
  assert.ok(Math.abs(Date.now() - Date.parse(since!)) < 60_000, what);
  const metrics = await metricsOf(service);
  assert.is(metrics.value('waypost_stale'), 1, what);
  assert.is(metrics.value('waypost_points'), countOf(mark), what);
  assert.ok(metrics.value('waypost_reloads_total', { outcome: 'failed' }) >= 1, what);
}

/** Puts the next good file in place and waits until it is served and not stale. */
async function recovers(service: Service, path: string, what: string): Promise<void> {
  replaceFile(path, markedLines(++mark));
  await until(`recovery from ${what}`, async () => {
    const { points, stale } = await readyOf(service);
    return points === countOf(mark) && !stale;
  });
  assert.is((await metricsOf(service)).value('waypost_stale'), 0, what);
}

const native = markedNative(900);
const flipped = Buffer.from(native);
flipped[flipped.length >> 1]! ^= 4;
const [header, ...rest] = takeApart(native);
const version = putTogether([{ ...(header as object), version: 99 }, ...rest]);
const twice = Buffer.concat([markedLines(900), markedLines(900)]);

const BAD: Readonly<Record<string, readonly [content: Uint8Array | string, reason: RegExp]>> = {
  'a writer that stopped half-way': [markedLines(900).subarray(0, 100_001), /line \d+/],
  'a native file cut short': [native.subarray(0, native.length / 2), /incomplete/],
  'a gzipped file cut short': [gzipSync(markedLines(900)).subarray(0, 9_000), /cut short/],
  'a native file with a flipped bit': [flipped, /checksum|broken/],
  garbage: [Buffer.from(Array.from({ length: 9_999 }, (_, i) => (i * 7919 + 13) % 251)), /./],
  'zero bytes': ['', /empty/],
  'a file of NUL bytes': [Buffer.alloc(50_000), /./],
  'a wrong version': [version, /version 99/],
  'ids that occur twice': [twice, /an earlier record's/],
  'a record that breaks a rule': [`${JSON.stringify({ id: 1, lat: 91, lon: 0 })}\n`, /lat/],
};

test('bad files of every kind leave the old data, under load, until the next good one', async () => {
  const [service, path] = await begin();
  const order = { port: service.port, connections: 2, fresh: false, marked: true, pauseMs: 40 };
  const load: Load = await startLoad(order);
  for (const [what, [content, reason]] of Object.entries(BAD)) {
    writeFileSync(path, content);
    await refuses(service, what, reason);
    await recovers(service, path, what);
  }
  const { failures, failed, refused, dropped } = await load.end();
  assert.equal([failures, failed, refused, dropped], [[], 0, 0, 0]);

  const errors = service.logs.filter(({ level }) => level === 50).map(({ reason }) => reason);
  assert.is(new Set(errors).size, errors.length, 'each is logged once');
  assert.is(errors.length, Object.keys(BAD).length, errors.join('\n'));
});

const launcher = isRoot ? WITHOUT_PRIVILEGES : [];
const [launches = 'env', ...its] = launcher;
const cannotLaunch =
  spawnSync(launches, [...its, 'true']).status === 0
    ? undefined
    : `root may read everything, and ${WITHOUT_PRIVILEGES[0]} cannot take that away`;
testUnless(cannotLaunch, 'a file and a folder without permission leave the old data', async () => {
  const [service, path] = await begin(launcher);
  replaceFile(path, markedLines(901));
  chmodSync(path, 0o000);
  await refuses(service, 'a file that may not be read', /no permission/);
  await recovers(service, path, 'permissions');

  const folder = join(path, '..');
  chmodSync(folder, 0o000);
  await refuses(service, 'a folder that may not be entered', /no permission/);
  chmodSync(folder, 0o755);
  await recovers(service, path, "a folder's permissions");
});

test('a disk that fills up leaves the old data', async () => {
  const disk = makeFolder();
  const tmpfs = ['-t', 'tmpfs', '-o', 'size=600k', 'tmpfs', disk];
  const hasTmpfs = isRoot && spawnSync('mount', tmpfs).status === 0;
  // without a small file system, a limit on the size of files stops the writer, too
  const limit = hasTmpfs ? 'true' : 'ulimit -f 400';
  try {
    chownSync(disk, process.getuid!(), process.getgid!());
    const path = join(disk, 'points');
    writeFileSync(path, markedLines(mark));
    const service = await startService(['--snapshot', path, ...SETTLE]);
    const input = makeFile(markedLines(900, 9_000), 'large');
    const command = `${limit} && exec "$0" "$@"`;
    const pack = ['-c', command, process.execPath, MAIN, 'pack', input, path];
    const packed = spawnSync('bash', pack, { encoding: 'utf8' });
    assert.is(packed.status, 1, packed.stderr);
    assert.match(packed.stderr, /the disk is full|larger than is allowed/);
    assert.equal(readdirSync(disk), ['points'], 'nothing is left behind');
    assert.is((await readyOf(service)).points, countOf(mark));

    const copy = ['-c', `${limit}; cat "$0" > "$1"`, input, path];
    assert.is.not(spawnSync('bash', copy).status, 0, 'a careless writer fails as well');
    await refuses(service, 'what a full disk took', /line \d+/);
    rmSync(path);
    await recovers(service, path, 'a full disk');
    await service.stop();
  } finally {
    if (hasTmpfs) execFileSync('umount', ['-l', disk]);
  }
});

test.run();
