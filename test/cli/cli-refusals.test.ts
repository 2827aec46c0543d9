import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSnapshot } from '../../src/cli/generate.js';
import { packSnapshot } from '../../src/cli/pack.js';
import { readTokenFile } from '../../src/posts/tokens/file.js';
import { checkPorts } from '../../src/serving/listen.js';
import { startOwnService } from '../support/own-service.js';
import { startReloading } from '../support/reloading.js';
import { FIXTURE_POINTS, type Outcome, ROOT, runInThread } from '../support/service.js';
import { assert, makeFolder, refusal, test } from '../support/uvu.js';

const folder = makeFolder();

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The message of the InputError that `run` rejects with; asserts that it is one line. */
async function refusalLine(run: Promise<unknown>): Promise<string> {
  const message = await refusal(run);
  assert.not.match(message, /\n/);
  return message;
}

/** Asserts that the command ended with 1 and one line without a stack; returns the line. */
function oneLine({ code, stdout, stderr }: Outcome): string {
  assert.is(code, 1, stdout + stderr);
  assert.match(stderr, /^waypost: [^\n]+\n$/);
  assert.not.match(stderr, /unexpected| at .*:\d+:\d+/);
  assert.is(stdout, '');
  return stderr;
}

test('a snapshot that is not there or cannot be one is refused in one line', async () => {
  const [empty, bad] = [join(folder, 'folder'), makeFolder()];
  const native = readFileSync(join(ROOT, 'data/sample.waypost'));
  mkdirSync(empty);
  writeFileSync(join(bad, 'garbage'), 'garbage\n');
  const cases: [path: string, message: RegExp][] = [
    [join(folder, 'missing.ndjson'), /there is no such file/],
    [file('text.txt', 'hello, world\n'), /begins with the text "hello, world/],
    [file('error.json', '{"detail":"Not found."}'), /this one is {"detail":"Not found."}/],
    [empty, /no file in this folder/],
    [bad, /garbage: begins with the text/],
    [`${FIXTURE_POINTS}/x`, /not a directory/],
    ['/dev/null', /neither a file nor a folder/],
    [file('empty.waypost', ''), /empty/],
    [file('cut.waypost', native.subarray(0, 100_000)), /incomplete/],
    [file('head.waypost', native.subarray(0, 10)), /cut short/],
  ];
  for (const [path, message] of cases) {
    const line = await refusalLine(startReloading({ path }).then(({ end }) => end()));
    assert.ok(line.includes(path), line);
    assert.match(line, message);
  }
  // the command puts its own name before the message of its loader
  const [path, message] = cases[0]!;
  const line = oneLine(await runInThread(['serve', '--snapshot', path]));
  assert.ok(line.includes(path), line);
  assert.match(line, message);
});

test('one port for clients and operators is refused before the load', async () => {
  for (const [host, operationsHost] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['127.0.0.1', '::'],
  ] as const) {
    const ports = ['--port', '8099', '--operations-port', '8099'];
    const hosts = ['--host', host, '--operations-host', operationsHost];
    const line = oneLine(await runInThread(['serve', '--snapshot', 'none', ...ports, ...hosts]));
    assert.match(line, `both 8099, on ${host} and ${operationsHost}: give each one of its own`);
  }
  for (const [host, operationsHost] of [
    ['0.0.0.0', '::1'],
    ['127.0.0.1', '127.0.0.2'],
  ] as const) {
    checkPorts({ port: 8099, operationsPort: 8099, host, operationsHost });
  }
});

test('a tokens file that is none is refused, and no token is shown', async () => {
  const cases: [content: string, message: RegExp][] = [
    ['', /it is no JSON/],
    ['{"secret-token": 5', /it is no JSON/],
    ['["secret-token"]', /expected a file that waypost token add has made/],
    ['null', /expected a file/],
    ['{"secret-token": 5}', /expected a file/],
    ['{"tokens": {"secret-token": 5}}', /expected a file/],
  ];
  for (const [content, message] of cases) {
    const path = file('tokens.json', content);
    assert.throws(
      () => readTokenFile(path),
      ({ message: text }: Error) =>
        message.test(text) && text.includes(path) && !text.includes('secret'),
      content,
    );
  }
  assert.throws(() => readTokenFile('/no/tokens'), /tokens: cannot be read: there is no such file/);
  const cut = file('tokens.json', '{"secret-token": 5');
  const line = await refusalLine(startOwnService(['--tokens', cut]));
  assert.ok(line.includes(`${cut}: `) && !line.includes('secret'), line);
  const missing = join(folder, 'no-tokens.json');
  assert.match(await refusalLine(startOwnService(['--tokens', missing])), /no-tokens\.json/);
});

test('the other commands refuse what they cannot read as clearly', async () => {
  const missing = join(folder, 'missing.ndjson');
  oneLine(await runInThread(['pack', missing, join(folder, 'out.waypost')]));
  await refusalLine(packSnapshot(FIXTURE_POINTS, join(folder, 'none/out.waypost')));
  oneLine(await runInThread(['generate', '--points', '5', '--out', join(folder, 'none/x.ndjson')]));
  const options = { points: 5, seed: 1, out: join(folder, 'x.csv'), print: () => {} };
  await refusalLine(generateSnapshot(options));
  // missing rights fail alike, but root has them all
  const long = 'x'.repeat(300);
  for (const [args, why] of [
    [['pack', FIXTURE_POINTS, long], 'cannot be written: the name is too long for the folder'],
    [['journal', 'list', long], 'cannot be read: ENAMETOOLONG'],
  ] as const) {
    assert.match(oneLine(await runInThread([...args])), `waypost: ${long}: ${why}`);
  }
  const { code, stdout, stderr } = await runInThread(['verify', missing]);
  assert.is(code, 1);
  assert.match(stdout, /there is no such file/);
  assert.is(stderr, '');
});

test.run();
