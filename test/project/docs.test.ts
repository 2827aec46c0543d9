import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import { RequestStats } from '../../src/http/answer/context.js';
import { Backlog } from '../../src/http/backlog.js';
import { CutCounts } from '../../src/http/limits.js';
import { createServiceMetrics, createThreadMetrics } from '../../src/http/metrics.js';
import { FILTER_PARAMETERS } from '../../src/http/request/filters.js';
import { POINTS_PARAMETERS } from '../../src/http/request/list-parameters.js';
import { TILE_PARAMETERS } from '../../src/http/routes/tile-views.js';
import { PostStats } from '../../src/posts/posts.js';
import { Cell } from '../../src/reload/current.js';
import { ReloadStats } from '../../src/reload/stats.js';
import {
  code,
  documents,
  headings,
  read,
  rows,
  section,
  sourceFiles,
} from '../support/documents.js';
import { ROOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const README = read('README.md');
const OPERATIONS = read('docs/operations.md');
const SOURCE = sourceFiles()
  .map(({ text }) => text)
  .join('\n');

/** The path of each document that a pattern fits, and the first group of the match, or all of it. */
function* found(pattern: RegExp, files = documents()): Generator<[path: string, match: string]> {
  for (const { path, text } of files) {
    for (const [whole, group] of text.matchAll(pattern)) yield [path, group ?? whole];
  }
}

test('docs/settings.md has the table of the settings of serve', () => {
  const rows = SERVE_SETTINGS.map(({ flag, environment, fallback, required, help }) => {
    const otherwise = fallback === undefined ? (required ? 'required' : 'none') : `\`${fallback}\``;
    // flags are code, and so is what Markdown would interpret
    const text = help.replaceAll(/--[a-z-]+|\S*[*{<][^\s;,]*/g, (word) => `\`${word}\``);
    return `| \`${flag}\` | \`${environment}\` | ${otherwise} | ${text} |`;
  });
  const head = '| flag | environment | default | what it does |\n| --- | --- | --- | --- |';
  const table = [head, ...rows, ''].join('\n');
  assert.ok(read('docs/settings.md').endsWith(`\n\n${table}`), `it must end with:\n${table}`);
});

test('no document names a flag or an environment variable that does not exist', () => {
  const own = SERVE_SETTINGS.map(({ flag }) => flag.split(' ', 1)[0]!);
  const flags = new Set(['--help', '--version', ...own]);
  for (const [, flag] of SOURCE.matchAll(/['"](--[a-z-]+)[ '"]/g)) flags.add(flag!);
  const foreign = ['--engine-strict', '--ignore-scripts', '--omit', '--max-old-space-size'];
  const environment = new Set(SERVE_SETTINGS.map((setting) => setting.environment));
  for (const [path, name] of found(/\bWAYPOST_[A-Z_]+\b/g)) {
    assert.ok(environment.has(name), `${path} names ${name}`);
  }
  const commands = /^(?:.*`)?waypost (?:serve|pack|verify|generate|journal|compact) .*/gm;
  for (const [path, command] of found(commands)) {
    for (const [flag] of command.matchAll(/(?<=\s)--[a-z-]+/g)) {
      assert.ok(flags.has(flag), `${path} names ${flag}`);
    }
  }
  for (const [path, flag] of found(/`(--(?:[a-z]+-?)+)[^`]*`/g)) {
    assert.ok(flags.has(flag) || foreign.includes(flag), `${path} names ${flag}`);
  }
});

test('every parameter is listed, in order, with its example: of points, and of tiles besides filters', () => {
  const ofTiles = TILE_PARAMETERS.filter((one) => !FILTER_PARAMETERS.includes(one));
  for (const [path, title, parameters] of [
    ['docs/parameters.md', 'Parameters', POINTS_PARAMETERS],
    ['docs/maps.md', 'Asking for a tile', ofTiles],
  ] as const) {
    const listed = rows(section(read(path), title));
    const shown = listed.map(([name, , example]) => [code(name), code(example)]);
    assert.equal(
      shown,
      parameters.map(({ name, example }) => [name, example]),
      path,
    );
  }
});

test('the README lists every make target, and documents name no other', () => {
  const makefile = read('Makefile');
  const targets = [...makefile.matchAll(/^([a-z]+):.*## /gm)].map(([, name]) => name!);
  const listed = rows(section(README, 'Start')).map(([target]) => code(target));
  assert.equal(listed.sort(), targets.map((name) => `make ${name}`).sort());
  for (const [path, target] of found(/(?:`|^)make ([a-z]+)/gm)) {
    assert.ok(targets.includes(target), `${path} names make ${target}`);
  }
});

test('no document or comment names a file that does not exist', () => {
  const file = /\b(?:bench|src|test)\/[a-z/-]+(?:\.test)?\.ts\b/g;
  for (const [path, named] of found(file, [...documents(), ...sourceFiles()])) {
    assert.ok(existsSync(join(ROOT, named)), `${path} names ${named}`);
  }
});

test('no relative link leads nowhere', () => {
  for (const [path, target] of found(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [file = '', anchor] = target.split('#');
    const linked = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file));
    assert.ok(existsSync(join(ROOT, linked)), `${path} links to ${target}`);
    if (anchor === undefined) continue;
    assert.ok(headings(read(linked)).includes(anchor), `${path} links to ${target}`);
  }
});

test('the operations page lists every metric, and no other, with type and labels', () => {
  const exports = { open: 0, oldGenerations: 0, outcomes: {} };
  // the service is asked only when metrics are collected
  const registries = [
    createServiceMetrics(new Cell(), new ReloadStats(), { behind: 0 }, new PostStats(), exports)
      .registry,
    createThreadMetrics({
      thread: 0,
      stats: new RequestStats(),
      connections: { size: 0 },
      backlog: new Backlog({ maxUnsent: 0, answerTimeout: 0 }),
      cut: new CutCounts(),
      log: { dropped: 0 },
    }),
  ];
  const metrics = registries.flatMap((one) => one.getMetricsAsArray() as unknown as Registered[]);
  const actual = new Map(metrics.map((one) => [one.name, one]));
  const listed = rows(section(OPERATIONS, 'Metrics'));
  const own = [...actual.keys()].filter((name) => name.startsWith('waypost_'));
  assert.equal(listed.map(([cell]) => code(cell)).sort(), own.sort());
  for (const [cell, type, labels = ''] of listed) {
    const metric = actual.get(code(cell))!;
    assert.is(String(metric.type), type, `the type of ${cell}`);
    const names = labels.split(/,\s*/).filter((label) => label !== '');
    assert.equal(names.map(code), metric.labelNames ?? [], `the labels of ${cell}`);
  }
  const alerts = { path: 'deploy/alerts.yaml', text: read('deploy/alerts.yaml') };
  for (const [path, name] of found(/\bwaypost_[a-z_]+[a-z]\b/g, [...documents(), alerts])) {
    const family = name.replace(/_(?:bucket|sum|count)$/, '');
    assert.ok(actual.has(name) || actual.has(family), `${path} names ${name}`);
  }
});

interface Registered {
  readonly name: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}

test('documents name the addresses that there are', () => {
  const actual = new Set(
    [...SOURCE.matchAll(/'(\/(?:rest|health|metrics|admin)[\w/]*)'/g)].map(([, path]) => path!),
  );
  const listed = rows(section(OPERATIONS, 'Addresses for operators')).map(
    ([address]) => code(address).split(' ')[1]!,
  );
  const operational = [...actual].filter((path) => !/^\/rest\/|\/$/.test(path));
  assert.equal(listed.sort(), operational.sort());
  for (const [path, address] of found(/(?<=[\s`0-9T])\/(?:rest|health|metrics|admin)\b[\w/]*/g)) {
    const known = [...actual].some((one) => one === address || one.startsWith(`${address}/`));
    assert.ok(known || actual.has(`${address}/`), `${path} names ${address}`);
  }
});

test('the error messages that the pages explain are the ones that are shown', () => {
  const [ofOperators, ofClients] = [
    rows(section(OPERATIONS, 'What an error message means')).map(([message]) => message!),
    rows(section(read('docs/clients.md'), 'When it cannot answer')).map(([messages]) => messages!),
  ];
  for (const message of [...ofOperators, ...ofClients.flatMap((some) => some.split(', '))]) {
    assert.ok(SOURCE.includes(code(message)), `${message} is nowhere in the source`);
  }
});

test('the changelog begins with the version of the package, and no document names another', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.is(/^## \[([^\]]+)\]/m.exec(read('CHANGELOG.md'))?.[1], version);
  const named = [...found(/(?:waypost[:-]|"version":")(\d+\.\d+\.\d+)/g)];
  for (const [path, other] of named) assert.is(other, version, path);
  assert.ok(named.length >= 3, `${named.length} places`);
});

test('prose has at most 140 columns', () => {
  for (const { path, text } of documents()) {
    const prose = text.replaceAll(/^```.*?^```$/gms, (code) => code.replaceAll(/.+/g, ''));
    for (const [index, line] of prose.split('\n').entries()) {
      if (line.startsWith('|')) continue;
      assert.ok([...line].length <= 140, `${path}:${index + 1} has ${line.length} columns`);
    }
  }
});

test('each file of documentation is read by somebody', () => {
  const linked = Array.from(found(/\]\((?!https?:)([^)#\s]+)/g), ([path, target]) =>
    relative(ROOT, join(ROOT, dirname(path), target)),
  );
  for (const name of readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })) {
    // a folder's own files are looked at
    if (!name.includes('.')) continue;
    assert.ok(linked.includes(`docs/${name}`), `no document links to docs/${name}`);
  }
  assert.ok(readFileSync(join(ROOT, 'LICENSE'), 'utf8').startsWith('MIT License'));
});

test.run();
