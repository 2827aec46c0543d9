import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PATHS } from '../../src/http/pages/assets.js';
import { EXPORT_FORMATS } from '../../src/http/request/addresses.js';
import { headings } from '../support/documents.js';
import { MAIN, ROOT, runCommand } from '../support/service.js';
import { assert, makeFolder, test, testUnless } from '../support/uvu.js';
import { run } from '../support/wait.js';

/** npm's errors when it reaches no registry. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|network/;

/** The output of npm; undefined where it needs a registry and reaches none. */
async function npm(folder: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const flags = ['--loglevel=error', '--fetch-retries=0', '--fetch-timeout=20000'];
    const { stdout } = await run('npm', [...args, ...flags], { cwd: folder });
    return stdout;
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    if (NO_REGISTRY.test(stderr)) return undefined;
    throw new Error(`npm ${args[0]}: ${stderr}`);
  }
}

const home = makeFolder();
const [source, target] = [join(home, 'source'), join(home, 'target')];

// packed from a copy: packing replaces documents, which other tests read
const PACKED = ['package.json', 'LICENSE', 'README.md', 'CHANGELOG.md', 'assets', 'docs', 'deploy'];
for (const name of PACKED) {
  fs.cpSync(join(ROOT, name), join(source, name), { recursive: true });
}
fs.cpSync(dirname(MAIN), join(source, 'dist/src'), { recursive: true });
fs.symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
const packed = await npm(source, ['pack', '--pack-destination', home]);
const tarball = join(home, packed!.trim().split('\n').at(-1)!);
await run('tar', ['-xzf', tarball, '-C', home]);

test('documents of the package link only to files in it', () => {
  const folder = join(home, 'package');
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const documents = names.filter((name) => name.endsWith('.md'));
  assert.ok(documents.length >= 5, documents.join(' '));
  let links = 0;
  for (const name of documents) {
    const text = fs.readFileSync(join(folder, name), 'utf8');
    for (const [link, path, anchor] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
      const file = path === '' ? join(folder, name) : join(folder, dirname(name), path!);
      assert.ok(fs.existsSync(file), `${name}: ${link} is not there`);
      if (anchor === undefined) continue;
      assert.ok(headings(fs.readFileSync(file, 'utf8')).includes(anchor), `${name}: ${link}`);
      links += 1;
    }
  }
  assert.ok(links > 20, `${links} links`);
});

test('the package has a README of its own, and the repository keeps its documents', async () => {
  const readme = fs.readFileSync(join(home, 'package/README.md'), 'utf8');
  assert.not.match(readme, /(?:^|`)make \w|bench\//m);
  assert.ok(fs.existsSync(join(home, 'package/docs/settings.md')));
  const listed = [...readme.matchAll(/^\| `waypost (\w+)`/gm)].map(([, command]) => command);
  const { stdout: help } = await run(process.execPath, [MAIN, '--help']);
  const commands = [...help.matchAll(/^ {2}(\w+) /gm)].map(([, command]) => command);
  assert.ok(commands.length > 5, help);
  assert.equal(listed, commands);
  for (const name of ['README.md', 'CHANGELOG.md', 'docs/operations.md']) {
    assert.equal(fs.readFileSync(join(source, name)), fs.readFileSync(join(ROOT, name)), name);
  }
});

/** Packages that are installed with this one. */
const NEEDED = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies;

test('every static file of the pages is in the package, whatever else is installed', () => {
  for (const [name, from] of PATHS) {
    // packing copies files of packages that are not installed with this one
    const path = relative(ROOT, from).replace('node_modules/maplibre-gl/dist', 'dist/src/browser');
    const [, needed] = /^node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(path) ?? [];
    const isThere =
      needed === undefined ? fs.existsSync(join(home, 'package', path)) : needed in NEEDED;
    assert.ok(isThere, name);
  }
  assert.ok(fs.existsSync(join(home, 'package/dist/src/browser/maplibre-gl.LICENSE.txt')));
});

fs.mkdirSync(target);
fs.writeFileSync(join(target, 'package.json'), '{"private":true}');
const flags = ['--engine-strict', '--prefer-offline', '--ignore-scripts', '--no-audit'];
const installed = await npm(target, ['install', tarball, ...flags]);
const without =
  installed === undefined ? 'the packages that this one needs take a registry' : undefined;

testUnless(without, 'the package installs with --engine-strict, and runs', async () => {
  const { stdout } = await run(join(target, 'node_modules/.bin/waypost'), ['--version']);
  assert.is(`waypost-${stdout.trim()}.tgz`, tarball.slice(home.length + 1));
  assert.not.ok(fs.existsSync(join(target, 'node_modules/waypost/dist/test')));
});

const POINTS = Number(process.env['ROUND_TRIP_POINTS'] ?? 1_000_000);
const folder = makeFolder();
const file = (name: string): string => join(folder, name);

async function waypost(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runCommand(args);
  assert.is(code, 0, stderr);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(fs.createReadStream(path), hash);
  return hash.digest('hex');
}

const original = file('original.waypost');
await waypost('generate', '--points', String(POINTS), '--seed', '7', '--out', original);
await waypost('export', original, file('original.ndjson'));
const digest = await digestOf(file('original.ndjson'));

for (const { name } of EXPORT_FORMATS) {
  test(`${POINTS} points exported as ${name} load again as they were`, async () => {
    const exported = file(`one.${name}`);
    const [packed, again] = [file('two.waypost'), file('two.ndjson')];
    await waypost('export', original, exported);
    await waypost('pack', exported, packed);
    await waypost('export', packed, again);
    assert.is(await digestOf(again), digest);
    for (const path of [exported, packed, again]) await rm(path);
  });
}

test.run();
