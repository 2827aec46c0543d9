import { join } from 'node:path';
import { packSnapshot } from '../../src/cli/pack.js';
import { verify } from '../../src/cli/verify.js';
import { openTimeZone } from '../../src/model/time-zone.js';
import { type Envelope, LIST } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { readAll, recordsOf } from '../support/rows.js';
import { runInThread } from '../support/service.js';
import { assert, makeFile, makeFolder, test } from '../support/uvu.js';

const CSV =
  'id,lat,lon,created_at,modified_at\n' +
  '1,60,24,2023-05-01 15:00,2023-05-02\n' +
  '2,60,24,2023-01-01T12:00:00Z,\n';
/** `created_at` and `modified_at` of the first, then of the second. */
const IN_HELSINKI = [
  ['2023-05-01T15:00:00.000000+03:00', '2023-05-02T00:00:00.000000+03:00'],
  ['2023-01-01T12:00:00.000000+00:00', '2023-01-01T12:00:00.000000+00:00'],
];
const IN_UTC = [
  ['2023-05-01T15:00:00.000000+00:00', '2023-05-02T00:00:00.000000+00:00'],
  IN_HELSINKI[1],
];
const HELSINKI = 'Europe/Helsinki';
const NOTIFICATION =
  '{"id":1,"user":7,"comment":{"id":5,"user":3,"created_at":"2023-05-02","comment":"x","map_data_point":1}}\n';

function timesOf(records: readonly Record<string, unknown>[]): unknown[][] {
  return records.map((record) => [record['created_at'], record['modified_at']]);
}

const folder = makeFolder();
const csv = makeFile(CSV, 'notes.csv');

/** Runs a command with a zone; returns its result and what it printed. */
async function runPrinting<T>(
  run: (options: { print(line: string): void; timeZone?: string }) => Promise<T>,
  zone?: string,
): Promise<[T, string]> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  return [await run({ print, ...(zone && { timeZone: zone }) }), `${lines.join('\n')}\n`];
}

test('pack reads times without an offset, and dates alone, as those of its zone', async () => {
  const packed = join(folder, 'notes.waypost');
  const notifications = makeFile(NOTIFICATION);
  for (const [zone, expected, midnight] of [
    [undefined, IN_UTC, '2023-05-02T00:00:00.000000+00:00'],
    [HELSINKI, IN_HELSINKI, '2023-05-02T00:00:00.000000+03:00'],
  ] as const) {
    const [, said] = await runPrinting(
      (of) => packSnapshot(csv, packed, { ...of, notifications }),
      zone,
    );
    assert.match(said, `\n2 times without an offset, read as ${zone ?? 'UTC'} (--time-zone)\n`);
    const { blocks, report } = await readAll(packed);
    assert.equal(timesOf(recordsOf(blocks)), expected);
    assert.is(report.notifications[0]?.comment.created_at, midnight);
  }
  assert.equal(timesOf(recordsOf((await readAll(csv)).blocks)), IN_UTC);
  assert.not.match((await runPrinting((of) => verify(packed, of)))[1], 'without an offset');
});

test('verify judges as pack and serve do', async () => {
  const [code, said] = await runPrinting((of) => verify(csv, of), HELSINKI);
  assert.is(code, 0);
  assert.match(said, `\n  2 times without an offset, read as ${HELSINKI} (--time-zone)\ngood`);
  // skipped by a clock change there, and nowhere else
  const skipped = makeFile(CSV.replace('2023-05-01 15:00', '2023-03-26 03:30'));
  assert.is((await runPrinting((of) => verify(skipped, of)))[0], 0);
  const [bad, why] = await runPrinting((of) => verify(skipped, of), HELSINKI);
  assert.is(bad, 1);
  assert.match(why, /line 2: created_at: skipped or repeated .* Europe\/Helsinki; add a UTC/);
});

test('serve reads a snapshot by its time zone', async () => {
  const service = await startOwnService(['--snapshot', csv, '--time-zone', HELSINKI]);
  const { results } = (await service.get(LIST)).json<Envelope>();
  assert.equal(timesOf(results as never), IN_HELSINKI);
});

test('another zone is another state, also where only addresses have times without an offset', async () => {
  const packed = join(folder, 'zoned.waypost');
  await packSnapshot(csv, packed, { print: () => {} });
  const states: (string | undefined)[] = [];
  const counts: number[] = [];
  for (const zone of ['UTC', HELSINKI, 'UTC']) {
    const flags = ['--snapshot', packed, '--time-zone', zone, '--journal', 'none'];
    const service = await startOwnService(flags);
    const answer = await service.get(`${LIST}?created_at_after=2023-05-01T17:00:00`);
    states.push(answer.headers['waypost-snapshot'] as string);
    counts.push(answer.json<Envelope>().count);
  }
  assert.equal(counts, [0, 1, 0]);
  assert.is(states[0], states[2]);
  assert.is.not(states[0], states[1]);
});

test('an unknown time zone is refused by each command', async () => {
  const output = join(folder, 'out.waypost');
  for (const args of [
    ['pack', csv, output],
    ['verify', csv],
    ['serve', '--snapshot', csv, '--port', '0'],
  ]) {
    const { code, stderr } = await runInThread([...args, '--time-zone', 'Nowhere/City']);
    assert.is(code, 1);
    assert.match(stderr, /^waypost: --time-zone: "Nowhere\/City" is no IANA time zone; take one/);
  }
  for (const zone of ['+02:00x', '']) {
    assert.is(await openTimeZone(zone).catch(() => undefined), undefined, zone);
  }
  const { stdout } = await runInThread(['compact', '--help']);
  assert.match(stdout, '--time-zone <name>');
});

test.run();
