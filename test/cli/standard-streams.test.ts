import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type PackOptions, packSnapshot } from '../../src/cli/pack.js';
import { verify } from '../../src/cli/verify.js';
import { openNative } from '../../src/formats/native/read.js';
import { closeLater } from '../support/folder.js';
import { readOnePass } from '../support/native.js';
import { FIXTURE_POINTS, MAIN } from '../support/service.js';
import { assert, failure, makeFile, makeFolder, refusal, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const LINES = fs.readFileSync(FIXTURE_POINTS, 'utf8').split('\n').slice(0, 300);
const ROWS = makeFile(LINES.join('\n'), 'rows.ndjson');
const quiet: PackOptions = { print() {} };

/** Packs with these bytes as standard input, in chunks. */
function packFrom(bytes: Uint8Array, output: string, options = quiet): Promise<unknown> {
  const chunks = [bytes.subarray(0, 7), bytes.subarray(7)];
  return packSnapshot('-', output, { ...options, stdin: Readable.from(chunks) });
}

test('standard input is packed as a file is', async () => {
  const folder = makeFolder();
  const [fromFile, fromInput] = [join(folder, 'a.waypost'), join(folder, 'b.waypost')];
  await packSnapshot(ROWS, fromFile, quiet);
  await packFrom(fs.readFileSync(ROWS), fromInput);
  const [blocks, report] = await readOnePass(fromFile);
  const [sameBlocks, same] = await readOnePass(fromInput);
  assert.equal(sameBlocks, blocks);
  assert.is(same.points, report.points);
  const reader = openNative(fromInput, {})!;
  assert.is(reader.origin, 'waypost pack, from standard input');
  reader.close();
  // a native snapshot can come that way, too
  await packFrom(fs.readFileSync(fromFile), fromInput);
  assert.equal((await readOnePass(fromInput))[0], blocks);
  assert.equal(fs.readdirSync(folder).sort(), ['a.waypost', 'b.waypost']);
});

test('standard input that cannot be packed is named, and leaves nothing', async () => {
  const folder = makeFolder();
  const output = join(folder, 'out.waypost');
  for (const [content, why] of [
    ['hello, world', /^standard input: begins with the text "hello/],
    ['{"id":1}\n', /^standard input: 1 of 1 records .*\n {2}standard input: l/],
    ['', /^standard input: the file is empty/],
  ] as const) {
    assert.match(await refusal(packFrom(Buffer.from(content), output)), why);
  }
  const nowhere = packFrom(Buffer.from('[]'), join(folder, 'none', 'out.waypost'));
  assert.match(await refusal(nowhere), /cannot be written: there is no folder .*none$/);
  assert.equal(fs.readdirSync(folder), []);
});

test('standard input is verified as a file is', async () => {
  const path = join(makeFolder(), 'a.waypost');
  await packSnapshot(ROWS, path, quiet);
  const said = async (file: string, bytes?: Uint8Array): Promise<[number, string[]]> => {
    const lines: string[] = [];
    const stdin = Readable.from(bytes === undefined ? [] : [bytes]);
    const code = await verify(file, { stdin, print: (line) => void lines.push(line) });
    // the lines of age differ: a file has a time, standard input is new
    return [code, lines.filter((line) => !line.includes('exported'))];
  };
  const texts = ['{"id":1}\n', '[]', 'hello'].map((one) => Buffer.from(one));
  for (const bytes of [fs.readFileSync(path), ...texts]) {
    fs.writeFileSync(path, bytes);
    const [code, lines] = await said(path);
    const expected = lines.map((line) => line.replaceAll(path, 'standard input'));
    assert.equal(await said('-', bytes), [code, expected]);
  }
});

test('nobody else may read the file that standard input is copied to', async () => {
  const folder = makeFolder();
  const modes: number[] = [];
  const stdin = Readable.from(
    (async function* () {
      yield fs.readFileSync(ROWS);
      while (fs.readdirSync(folder).length === 0) await delay(1);
      for (const name of fs.readdirSync(folder))
        modes.push(fs.statSync(join(folder, name)).mode & 0o777);
    })(),
    { highWaterMark: 1 },
  );
  await packSnapshot('-', join(folder, 'out.waypost'), { ...quiet, stdin });
  assert.equal(modes, [0o600]);
});

test('interrupted while standard input is silent, it leaves nothing', async () => {
  const folder = makeFolder();
  const abort = new AbortController();
  const stdin = new PassThrough();
  const options = { ...quiet, stdin, signal: abort.signal };
  const work = packSnapshot('-', join(folder, 'out.waypost'), options);
  stdin.write('{"id":1');
  const reason = new Error('interrupted');
  abort.abort(reason);
  assert.is(await failure(work), reason);
  assert.equal(fs.readdirSync(folder), []);
});

test('standard output gets the bytes of the file', async () => {
  const folder = makeFolder();
  const path = join(folder, 'a.waypost');
  await packSnapshot(ROWS, path, quiet);
  const stdout = new PassThrough();
  const [, chunks] = await Promise.all([
    packSnapshot(ROWS, '-', { ...quiet, stdout }).finally(() => stdout.end()),
    stdout.toArray(),
  ]);
  assert.ok(Buffer.concat(chunks as Buffer[]).equals(fs.readFileSync(path)));
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const shown = packSnapshot(ROWS, '-', { ...quiet, stdout: terminal });
  assert.match(await refusal(shown), /nothing for a terminal/);
  assert.equal(fs.readdirSync(folder), ['a.waypost']);
});

test('a command whose reader has left ends quietly', async () => {
  const folder = makeFolder();
  const bad = join(folder, 'bad.ndjson');
  fs.writeFileSync(bad, '{"id":\n'.repeat(50));
  const runs = [
    ['verify', bad],
    ['pack', ROWS, '-'],
    ['pack', ROWS, join(folder, 'out.waypost')],
    ['generate', '--points', '5', '--out', join(folder, 'five.ndjson')],
  ];
  for (const args of runs) {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.equal([code, stderr], [141, ''], args[0]);
  }
  assert.equal(fs.readdirSync(folder).sort(), ['bad.ndjson', 'five.ndjson', 'out.waypost']);
});

test('a command that is interrupted, or cannot say what it found, leaves nothing and says why', async () => {
  const folder = makeFolder();
  const cases: [string[], number | 'SIGINT' | 'pipe', number, RegExp][] = [
    [['verify', '-'], 'SIGINT', 1, /^waypost: Stopped by SIGINT\.\n$/],
  ];
  if (fs.existsSync('/dev/full')) {
    const full = fs.openSync('/dev/full', 'w');
    closeLater(async () => fs.closeSync(full));
    const why = /^waypost: the output cannot be written: ENOSPC[^\n]*\n$/;
    cases.push(
      [['export', ROWS, '-'], full, 1, why],
      [['diff', ROWS, FIXTURE_POINTS], full, 2, why],
      [['pack', ROWS, '/dev/stdout'], 'pipe', 1, /^waypost: \/dev\/stdout: .* no regular file\n$/],
    );
  }
  for (const [args, end, expected, message] of cases) {
    const isSignal = end === 'SIGINT';
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['pipe', isSignal ? 'ignore' : end, 'pipe'],
    });
    if (isSignal) {
      child.stdin!.write('{"id":1');
      await until('the copy', () => fs.readdirSync(folder).length > 0);
      child.kill(end);
    }
    const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')]);
    assert.is(code, expected, args[0]);
    assert.match(stderr, message);
    assert.equal(fs.readdirSync(folder), []);
  }
});

test.run();
