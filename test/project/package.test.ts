import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAIN, ROOT } from '../support/service.js';

const run = promisify(execFile);

/** What npm says where it reaches no registry. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|network/;

/** Runs npm; its output, or undefined where it needs a registry and reaches none. */
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

test('the package installs with --engine-strict, runs, and has a README that holds there', async () => {
  const home = mkdtempSync(join(tmpdir(), 'waypost-package-'));
  try {
    const [source, target] = [join(home, 'source'), join(home, 'target')];
    // a copy: packing puts another README in place, while other tests read this one
    for (const name of ['package.json', 'LICENSE', 'README.md', 'docs', 'deploy']) {
      cpSync(join(ROOT, name), join(source, name), { recursive: true });
    }
    cpSync(dirname(MAIN), join(source, 'dist/src'), { recursive: true });
    const packed = await npm(source, ['pack', '--pack-destination', home]);
    const tarball = join(home, packed!.trim().split('\n').at(-1)!);
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    assert.is(readFileSync(join(source, 'README.md'), 'utf8'), readme);

    mkdirSync(target);
    writeFileSync(join(target, 'package.json'), '{"private":true}');
    const flags = ['--engine-strict', '--prefer-offline', '--ignore-scripts', '--no-audit'];
    if ((await npm(target, ['install', tarball, ...flags])) === undefined) {
      console.log('skipped: the packages that this one needs are not to be had without a registry');
      return;
    }
    const { stdout } = await run(join(target, 'node_modules/.bin/waypost'), ['--version']);
    assert.is(`waypost-${stdout.trim()}.tgz`, tarball.slice(home.length + 1));
    const installed = join(target, 'node_modules/waypost');
    checkReadme(installed);
    assert.not.ok(existsSync(join(installed, 'dist/test')));
  } finally {
    rmSync(home, { recursive: true });
  }
});

function checkReadme(folder: string): void {
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  assert.not.match(text, /\bmake \w|bench\//);
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target]) => target!);
  assert.ok(links.length > 2);
  for (const link of links) assert.ok(existsSync(join(folder, link)), `${link} is not there`);
}

test.run();
