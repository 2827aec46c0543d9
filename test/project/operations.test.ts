import { levels } from 'pino';
import { SERVE_SETTINGS } from '../../src/cli/settings/settings.js';
import { LATENCY_BOUNDS } from '../../src/http/answer/context.js';
import { GEOJSON } from '../../src/http/formats/features.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../../src/http/formats/json-format.js';
import { CHANGES_ADDRESS } from '../../src/http/routes/changes.js';
import { EXPORT_ADDRESS } from '../../src/http/routes/exports.js';
import { createViews } from '../../src/http/routes/resources.js';
import { MVT } from '../../src/http/routes/tile-views.js';
import { isSnapshotName } from '../../src/reload/source/source.js';
import { ReloadStats } from '../../src/reload/stats.js';
import { PLAIN_SITE } from '../support/app.js';
import { code, read, rows, section, sourceFiles } from '../support/documents.js';
import { assert, test } from '../support/uvu.js';

const PAGE = read('docs/operations.md');
const SOURCE = sourceFiles();

/** Fields of objects that calls of the logger spread. */
const SPREAD: Readonly<Record<string, string>> = {
  '...server.begun': 'points, loadMs, address, operations',
  '...ids': 'from, to',
};

function spans(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inner]) => inner!);
}

test('log lines have the levels and fields that the page lists', () => {
  const listed = new Map<string, string>();
  for (const [messages, level, fields = ''] of rows(section(PAGE, 'Logs'))) {
    const names = spans(fields).filter((name) => /^\w+$/.test(name));
    for (const message of spans(messages!)) listed.set(message, `${level} ${names.sort()}`);
  }
  const call = /\blogger\??\.(\w+)\((?:\{ ([^{}]*) \}, )?'([^']+)'/g;
  const seen = new Set(['closed']);
  for (const { path, text } of SOURCE) {
    for (const [, method, fields = '', message] of text.matchAll(call)) {
      const whole = fields.replaceAll(/\.\.\.[\w.]+/g, (spread) => SPREAD[spread] ?? spread);
      const names = whole.split(', ').map((field) => field.split(':')[0]!);
      // `closed` shares its row with `closing`
      if (message === 'closed') continue;
      seen.add(message!);
      const written = `${levels.values[method!]} ${names.filter((name) => name !== '').sort()}`;
      assert.is(listed.get(message!), written, `${message} of ${path}`);
    }
  }
  assert.equal([...seen].sort(), [...listed.keys()].sort());
});

test('labels of metrics have the values that the page lists', () => {
  const text = section(PAGE, 'Metrics');
  const valuesOf = (beginning: string): string[] => {
    const item = new RegExp(`^- ${beginning} (.+?)(?:\\swhere|[:.])`, 'ms').exec(text)?.[1];
    return spans(item ?? '');
  };
  const reloads = valuesOf('`outcome` of `waypost_reloads_total`:');
  assert.equal(reloads.sort(), Object.keys(new ReloadStats().outcomes).sort());
  const formats = [JSON_FORMAT, GEOJSON, MVT, OPENAPI, OPENAPI_30].map(({ name }) => name);
  assert.equal(valuesOf('`representation` is').sort(), [...formats, 'html', 'none'].sort());
  const context = { zone: undefined as never, site: PLAIN_SITE, maxPageBytes: 0 };
  const own = [CHANGES_ADDRESS, EXPORT_ADDRESS].map(({ name }) => name);
  const names = [...createViews(context).keys(), ...own, 'posting', 'openapi', 'ogcApi'];
  assert.equal(valuesOf('`route` is').sort(), [...names, 'other'].sort());
  assert.equal([LATENCY_BOUNDS[0], LATENCY_BOUNDS.at(-1)], [50e-6, 1]);
  assert.match(text, 'handed to the system; 50 µs to 1 s');
});

/** Amounts that the page names in passing, and the constant that each comes from. */
const AMOUNTS: readonly (readonly [words: string, constant: string])[] = [
  ['Waypost looks every five seconds', 'SAFETY_MS = 5_000;'],
  ['looks take a tenth of the time at most', 'MOST_LOOKING = 1 / 10;'],
  ['tries again after 1 s, 2 s, 4 s and so on', 'RETRY_MS = 1_000;'],
  ['up to 5 minutes', 'LONGEST_RETRY_MS = 300_000;'],
  ['collected ten times a second at most', 'SPACING_MS = 100;'],
  ['are left out after a second', 'METRICS_PATIENCE_MS = 1_000;'],
  ['1 MiB of lines is kept', 'MOST_WAITING = 1024 * 1024;'],
  ['closed after half a second', 'NOTICE_MS = 500;'],
  ['has not ended two seconds after', 'GRACE_MS = 2_000;'],
  ['one a core and eight at most', 'MOST_AUTO_WORKERS = 8;'],
  ['silently with 141', 'READER_LEFT = 141;'],
];

test('amounts that the page names are those of the source', () => {
  const words = PAGE.replaceAll(/\s+/g, ' ');
  for (const [text, constant] of AMOUNTS) {
    assert.ok(words.includes(text), `the page does not say: ${text}`);
    const isThere = SOURCE.some((file) => file.text.includes(`const ${constant}`));
    assert.ok(isThere, `no file has: const ${constant}`);
  }
});

test('names that the page lists are no snapshots, and others are', () => {
  const text = /### Names in a folder\n(.*?)\n### /s.exec(PAGE)![1]!;
  const list = text.split('\n`--snapshot', 1)[0]!;
  const [hidden, unfinished, about, journals, people] = list.split(/^- /m).slice(1).map(spans);
  const names = [
    '.notes.waypost',
    ...hidden!.map((start) => `${start}notes.waypost`),
    ...unfinished!.map((end) => `notes.waypost${end}`),
    ...about!.map((end) => (end.startsWith('.') ? `notes.waypost${end}` : end)),
    ...journals!.map((end) => `notes${end}`),
    ...people!.flatMap((one) => (one.startsWith('.') ? [`notes${one}`] : [one, `${one}.txt`])),
  ];
  assert.ok(names.length > 30, names.join(' '));
  for (const name of names) assert.not(isSnapshotName(name), name);
  for (const name of ['notes', 'notes.waypost', 'part', 'notes.csv.gz', 'readme-notes.json']) {
    assert.ok(isSnapshotName(name), name);
  }
});

/** Settings that bound what clients can do. */
const BOUND =
  /^--(max-(?!invalid|shrink)[a-z-]+|answer-cache|posts-per-\w+|(?!listen)[a-z]+-timeout) /;

test('the limits of the page on security have the defaults of the settings, and none is missing', () => {
  const limits = rows(section(read('docs/security.md'), 'Limits'));
  const listed = limits
    .filter(([, setting]) => setting !== 'none')
    .map(([, setting, fallback]) => [code(setting), code(fallback)]);
  const actual = SERVE_SETTINGS.filter(({ flag }) => BOUND.test(flag)).map((setting) => [
    setting.flag.split(' ', 1)[0],
    setting.fallback,
  ]);
  assert.equal(listed.sort(), actual.sort());
});

test.run();
