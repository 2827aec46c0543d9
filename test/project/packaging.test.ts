import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import { duration } from '../../src/cli/settings/values.js';
import { type Asked, ask, LIST } from '../support/client.js';
import { read, sourceFiles } from '../support/documents.js';
import { closeLater } from '../support/folder.js';
import { MAIN, ROOT, startService } from '../support/service.js';
import { freePort } from '../support/sockets.js';
import { assert, makeFile, makeFolder, test } from '../support/uvu.js';

const DOCKERFILE = read('Dockerfile').replaceAll(/\\\n\s*/g, '');
const UNIT = read('deploy/waypost.service');
const CLUSTER = read('deploy/kubernetes.yaml');
const FLEET = read('deploy/kubernetes-fleet.yaml');
const COMPOSE = read('deploy/compose.yaml');
const PACKAGE = JSON.parse(read('package.json')) as {
  version: string;
  bin: { waypost: string };
  dependencies: Record<string, string>;
};
const LOCK = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { dev?: boolean; optional?: boolean }>;
};

/** Values of an instruction or a directive, one for each line that has it. */
function valuesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, value]) => value!.trim());
}

test('every environment variable that is set exists', () => {
  const known = new Set(SERVE_SETTINGS.map((setting) => setting.environment));
  for (const text of [DOCKERFILE, UNIT, CLUSTER, FLEET, COMPOSE]) {
    const names = text.match(/\bWAYPOST_[A-Z_]+\b/g) ?? [];
    assert.ok(names.length > 0);
    for (const name of names) assert.ok(known.has(name), `${name} is no setting`);
  }
});

test('the values that are set are taken', () => {
  const pairs = [
    ...DOCKERFILE.matchAll(/\b(WAYPOST_[A-Z_]+)=(\S+)/g),
    ...UNIT.matchAll(/^Environment=(WAYPOST_[A-Z_]+)=(.*)$/gm),
    ...(CLUSTER + FLEET).matchAll(/name: (WAYPOST_[A-Z_]+), value: '?([^'}]*?)'? }/g),
    ...COMPOSE.matchAll(/^ +(WAYPOST_[A-Z_]+): (.*)$/gm),
  ];
  assert.ok(pairs.length >= 9, `${pairs.length} values`);
  for (const [, name, value] of pairs) {
    SERVE_SETTINGS.find(({ environment }) => environment === name)!.parse?.(value!);
  }
});

test('the image holds what it runs, and the build what it compiles', () => {
  const copies = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from]) =>
    from!.split(' '),
  );
  const ignored = read('.dockerignore');
  for (const source of copies) {
    const name = source.replace(/^\.\//, '');
    assert.ok(existsSync(join(ROOT, name)), `${name} does not exist`);
    assert.match(ignored, new RegExp(`^!${name.replaceAll('.', '\\.')}$`, 'm'));
  }
  assert.match(DOCKERFILE, /^RUN npm ci --omit=dev$/m);
  assert.match(DOCKERFILE, new RegExp(`^ENTRYPOINT \\["node", "${PACKAGE.bin.waypost}"\\]$`, 'm'));
  assert.ok(UNIT.includes(`/opt/waypost/${PACKAGE.bin.waypost} serve\n`));
  for (const text of [CLUSTER, FLEET, COMPOSE]) {
    assert.ok(text.includes(`image: waypost:${PACKAGE.version}\n`));
  }
});

test('every stage of the image is of one Node, which the project runs on', () => {
  const [version] = valuesOf(DOCKERFILE, /^ARG NODE_VERSION=(\d+)$/gm);
  assert.ok(Number(version) > 20, 'the project asks for 20.19 or newer');
  const bases = valuesOf(DOCKERFILE, /^FROM (\S+)/gm);
  assert.is(bases.length, 3);
  for (const base of bases) assert.match(base, /^node:\$\{NODE_VERSION\}-slim$/);
});

test('nothing runs as root, and the root file system is read-only', () => {
  const [user] = valuesOf(DOCKERFILE, /^USER (\d+):\d+$/gm);
  assert.ok(Number(user) > 0);
  assert.match(CLUSTER, new RegExp(`runAsUser: ${user}\\n`));
  // a new volume is root's, and has no folder in it
  assert.match(CLUSTER, new RegExp(`fsGroup: ${user}`));
  const volumes =
    /mounted at \/accepted,[\s#]+WAYPOST_JOURNAL=\S+[\s#]+and WAYPOST_MEDIA=\/accepted;/;
  assert.match(CLUSTER, volumes);
  // Kubernetes tells a pod of a Service called `waypost` in WAYPOST_PORT
  assert.match(CLUSTER, /^ {6}enableServiceLinks: false$/m);
  for (const line of [
    ...['runAsNonRoot: true', 'readOnlyRootFilesystem: true'],
    ...['allowPrivilegeEscalation: false', 'capabilities: { drop: [ALL] }'],
  ]) {
    assert.ok(CLUSTER.includes(line) && FLEET.includes(line), line);
  }
  for (const line of [
    ...['User=waypost', 'Group=waypost', 'UMask=0027', 'NoNewPrivileges=yes'],
    ...['ProtectSystem=strict', 'MemoryDenyWriteExecute=no', 'ExecReload=/bin/kill -HUP $MAINPID'],
  ]) {
    assert.ok(UNIT.includes(`\n${line}\n`), line);
  }
});

test('ports agree, and probes ask for addresses that there are', () => {
  const [port] = valuesOf(DOCKERFILE, /^EXPOSE (\d+)$/gm);
  assert.ok(DOCKERFILE.includes(`WAYPOST_PORT=${port} `));
  assert.ok(CLUSTER.includes(`containerPort: ${port} `));
  const [own] = valuesOf(CLUSTER, /name: operations, containerPort: (\d+) /g);
  assert.ok(CLUSTER.includes(`prometheus.io/port: '${own}'`));
  assert.ok(CLUSTER.includes(`WAYPOST_OPERATIONS_PORT, value: '${own}'`));
  const operations = read('src/http/operations.ts');
  const paths = [
    ...valuesOf(CLUSTER, /httpGet: { path: (\S+), port: operations }/g),
    ...valuesOf(CLUSTER, /prometheus\.io\/path: (\S+)/g),
  ];
  assert.is(paths.length, 4);
  for (const path of paths) assert.ok(operations.includes(`'${path}'`), path);
});

test('clients whose posts come by a proxy do not count as one', () => {
  for (const text of [FLEET, COMPOSE]) {
    assert.match(text, /WAYPOST_TRUST_PROXY(?:, value)?: 'true'/);
  }
  for (const name of ['For', 'Proto', 'Host']) {
    assert.ok(COMPOSE.includes(`http-request set-header X-Forwarded-${name} `), name);
  }
});

test('there is time to drain before a supervisor kills', () => {
  const setting = SERVE_SETTINGS.find((one) => one.environment === 'WAYPOST_SHUTDOWN_TIMEOUT')!;
  const drain = duration(setting.fallback!) / 1000;
  const seconds = (text: string, pattern: RegExp): number => Number(valuesOf(text, pattern)[0]);
  const grace = /terminationGracePeriodSeconds: (\d+)/g;
  assert.ok(seconds(CLUSTER, grace) > drain + seconds(CLUSTER, /command: \[sleep, '(\d+)'\]/g));
  const delay = /WAYPOST_DRAIN_DELAY(?:, value)?: (\d+)s/g;
  assert.ok(seconds(FLEET, grace) > drain + seconds(FLEET, delay));
  assert.ok(seconds(COMPOSE, /stop_grace_period: (\d+)s/g) > drain + seconds(COMPOSE, delay));
  const [stop] = valuesOf(UNIT, /^TimeoutStopSec=(\d+)s$/gm);
  assert.ok(Number(stop) > drain);
  assert.match(DOCKERFILE, /^STOPSIGNAL SIGTERM$/m);
});

/** Runs the health check of the image beside the process `pid`. */
async function checkHealth(
  environment: Readonly<Record<string, string>>,
  ...pid: string[]
): Promise<unknown> {
  const [check] = valuesOf(DOCKERFILE, /^HEALTHCHECK .*CMD (\[.*\])$/gm);
  const [command, ...args] = JSON.parse(check!) as string[];
  assert.is(command, 'node');
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [...args, ...pid], { cwd: ROOT, env, stdio: 'ignore' });
  const [code] = await once(child, 'close');
  return code;
}

/** Nobody listens at the port of clients that the environment of the image names. */
const IMAGE = { WAYPOST_PORT: '9', WAYPOST_HOST: '0.0.0.0' };
const port = String(await freePort());
const ofService = { ...IMAGE, WAYPOST_OPERATIONS_PORT: 'tcp://10.0.0.1:81' };

test('operators have an address of their own where it is named, and the health check follows it', async () => {
  const named = { ...IMAGE, WAYPOST_OPERATIONS_PORT: port };
  for (const [flags, environment, checked] of [
    [[`--operations-port=${port}`, '--operations-host', '127.0.0.2'], {}, ofService],
    [['--allowed-hosts', 'a', '--workers', '2'], { WAYPOST_OPERATIONS_PORT: port }, named],
  ] as const) {
    const service = await startService([...flags, '--admin-token', 'secret'], environment);
    assert.is(await checkHealth(checked, String(service.pid)), 0, flags.join(' '));
    const { operations } = service.logs.find(({ msg }) => msg === 'serving')!;
    const askThere = (path: string, given?: RequestInit) => fetch(`${operations}${path}`, given);
    const askHere = (path: string, given?: Asked) =>
      service.get(path, { headers: { Host: 'a' }, ...given });
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      assert.is((await askHere(path)).status, 404, path);
      assert.is((await askThere(path)).status, 200, path);
    }
    const admin = { method: 'POST', headers: { Host: 'a', Authorization: 'Bearer secret' } };
    assert.is((await askHere('/admin/reload?wait', admin)).status, 404);
    assert.is((await askThere('/admin/reload?wait', admin)).status, 200);
    assert.is((await askThere('/admin/reload', { method: 'POST' })).status, 401);
    for (let i = 0; i < 2; i++) assert.is((await askHere(LIST)).status, 200);
    assert.is((await askThere(LIST)).status, 404);
    const text = await (await askThere('/metrics')).text();
    assert.match(text, /^waypost_http_requests_total\{route="points",.*\} 2$/m);
    await service.stop();
  }
});

test('the lock file has the optional packages of every platform, and names no address', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, '.ci/lock.mjs')]);
  assert.equal([status, stderr.toString()], [0, '']);
});

test('the source imports production dependencies only', () => {
  for (const { path, text } of sourceFiles()) {
    // types are gone in what is shipped
    const code = text.replaceAll(/import type [^;]*;|typeof import\([^)]*\)/g, '');
    for (const [, name] of code.matchAll(/(?:from |import\()'([^.'][^']*)'/g)) {
      if (name!.startsWith('node:')) continue;
      const [own] = /^(?:@[^/]+\/)?[^/]+/.exec(name!)!;
      assert.ok(own in PACKAGE.dependencies, `${path} imports ${own}`);
    }
  }
});

/** Makes a folder with the build and production packages alone; returns the arguments of Node. */
function install({ isWhole = true, hasMap = true } = {}): string[] {
  const home = makeFolder();
  cpSync(dirname(MAIN), join(home, 'dist/src'), { recursive: true });
  for (const name of ['package.json', 'assets'])
    cpSync(join(ROOT, name), join(home, name), { recursive: true });
  for (const [path, { dev, optional }] of Object.entries(LOCK.packages)) {
    // a package brings along what lies inside of it
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || dev === true) continue;
    // an optional package of another platform is not there
    if (optional === true && !(isWhole && existsSync(join(ROOT, path)))) continue;
    mkdirSync(dirname(join(home, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(home, path));
  }
  const maplibre = join(home, 'node_modules/maplibre-gl');
  symlinkSync(join(ROOT, 'node_modules/maplibre-gl'), maplibre);
  spawnSync(process.execPath, [join(ROOT, 'deploy/assets.mjs')], { cwd: home });
  rmSync(maplibre);
  if (!hasMap) rmSync(join(home, 'dist/src/browser/maplibre-gl.mjs'));
  // a linked package finds no others than those beside the link
  const links = ['--preserve-symlinks', '--preserve-symlinks-main'];
  return [...links, join(home, PACKAGE.bin.waypost)];
}

const SAMPLE = join(ROOT, 'data/sample.waypost');

test('the service runs with the production packages alone, at every address, healthy', async () => {
  const flags = ['--snapshot', SAMPLE, '--port', port, '--host', '0.0.0.0'];
  const zone = ['--time-zone', 'Europe/Helsinki'];
  const run = [...install(), 'serve', ...flags, ...zone];
  const service = spawn(process.execPath, run, { stdio: ['ignore', 'pipe', 'inherit'] });
  closeLater(() => service.kill('SIGKILL'));
  await once(createInterface({ input: service.stdout }), 'line');
  for (const path of ['/rest/map_data_points/?coordinates=60.166,24.951,1000', '/metrics']) {
    assert.is((await ask(Number(port), path)).status, 200, path);
  }
  assert.is(await checkHealth(ofService, String(service.pid)), 0);
  // without the flags of a service, and once it is gone
  assert.is(await checkHealth({ WAYPOST_PORT: port }), 0);
  service.kill('SIGTERM');
  const [code] = await once(service, 'close');
  assert.is(code, 0);
  assert.is(await checkHealth({ WAYPOST_PORT: port }), 1);
});

/** Ends a command that should have ended by itself. */
const LIMIT = { timeout: 60_000 };

test('without the optional packages a journal in a file ends the command, in one sentence', () => {
  const installed = install({ isWhole: false });
  const journal = makeFile('SQLite format 3\0');
  const serve = ['serve', '--snapshot', SAMPLE, '--port', '0', '--workers', '1', '--journal'];
  for (const args of [
    [...serve, journal],
    ['journal', 'list', journal],
    ['compact', SAMPLE, journal, join(makeFolder(), 'out.waypost')],
  ]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...installed, ...args], LIMIT);
    const said = `waypost: ${journal}: SQLite cannot be loaded (MODULE_NOT_FOUND): install the`;
    assert.ok(stderr.toString().startsWith(said), `${args}: ${stderr}`);
    assert.equal([status, `${stdout}`, `${stderr}`.split('\n').length], [1, '', 2]);
  }
});

test('without the client of buckets an address in one ends the start, and the message says how to install it', () => {
  const serve = ['serve', '--snapshot', 's3://bucket/key', '--port', '0', '--workers', '1'];
  const { status, stderr } = spawnSync(process.execPath, [...install(), ...serve], LIMIT);
  assert.is(status, 1);
  // it is a package for development, which plain `npm install` would leave out again
  const [, command] = /: (npm install --save-prod --omit=dev \S+) in/.exec(`${stderr}`)!;
  assert.ok(read('docs/operations.md').includes(`\`${command}\``), command);
});

test('a pack that fails leaves the documents as they are', () => {
  const home = makeFolder();
  for (const name of ['package.json', 'README.md', 'CHANGELOG.md', 'docs', 'deploy', 'dist/src'])
    cpSync(join(ROOT, name), join(home, name), { recursive: true });
  // without packages there is no MapLibre to copy
  const { status, stderr } = spawnSync('npm', ['pack', '--dry-run'], { cwd: home, ...LIMIT });
  assert.is(status, 1);
  assert.match(`${stderr}`, /ENOENT.*maplibre-gl\.mjs/);
  const documents = ['README.md', 'docs/operations.md'];
  for (const name of documents) assert.is(readFileSync(join(home, name), 'utf8'), read(name), name);
});

test('a file of the pages that is missing ends the start, and the message says what to run', () => {
  const serve = ['serve', '--snapshot', SAMPLE, '--port', '0', '--workers', '1'];
  const args = [...install({ hasMap: false }), ...serve];
  const { status, stderr } = spawnSync(process.execPath, args, LIMIT);
  assert.is(status, 1);
  assert.match(`${stderr}`, /maplibre-gl\.mjs: there is no such file, .* node deploy\/assets\.mjs/);
});

test.run();
