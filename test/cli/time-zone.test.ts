import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSnapshot } from '../../src/formats/files/open.js';
import { openTimeZone } from '../../src/model/time-zone.js';
import type { Envelope } from '../support/client.js';
import { readAll, recordsOf } from '../support/rows.js';
import { runInThread, startService } from '../support/service.js';
import { assert, makeFolder, test } from '../support/uvu.js';

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
const ZONE = ['--time-zone', 'Europe/Helsinki'];
const NOTIFICATION =
  '{"id":1,"user":7,"comment":{"id":5,"user":3,"created_at":"2023-05-02","comment":"x","map_data_point":1}}\n';

async function withCsv(run: (csv: string, folder: string) => Promise<void>): Promise<void> {
  const folder = makeFolder();
  const csv = join(folder, 'notes.csv');
  writeFileSync(csv, CSV);
  await run(csv, folder);
}

function timesOf(records: readonly Record<string, unknown>[]): unknown[][] {
  return records.map((record) => [record['created_at'], record['modified_at']]);
}

test('pack reads times without an offset, and dates alone, as those of its zone', () =>
  withCsv(async (csv, folder) => {
    const packed = join(folder, 'notes.waypost');
    const told = join(folder, 'told.ndjson');
    writeFileSync(told, NOTIFICATION);
    for (const [flags, expected, midnight] of [
      [[], IN_UTC, '2023-05-02T00:00:00.000000+00:00'],
      [ZONE, IN_HELSINKI, '2023-05-02T00:00:00.000000+03:00'],
    ] as const) {
      const { code, stdout, stderr } = await runInThread([
        ...['pack', csv, packed, '--notifications', told],
        ...flags,
      ]);
      assert.is(code, 0, stderr);
      const zone = flags[1] ?? 'UTC';
      assert.match(stdout, `\n2 times without an offset, read as ${zone} (--time-zone)\n`);
      const { blocks, report } = await readAll(packed);
      assert.equal(timesOf(recordsOf(blocks)), expected);
      assert.is(report.notifications[0]?.comment.created_at, midnight);
    }
  }));

test('verify judges as pack and serve do', () =>
  withCsv(async (csv) => {
    const good = await runInThread(['verify', csv, ...ZONE]);
    assert.is(good.code, 0);
    assert.match(
      good.stdout,
      '\n  2 times without an offset, read as Europe/Helsinki (--time-zone)\ngood',
    );
    const packed = `${csv}.waypost`;
    await runInThread(['pack', csv, packed]);
    assert.not.match((await runInThread(['verify', packed])).stdout, 'without an offset');
    // skipped by a clock change there, and nowhere else
    writeFileSync(csv, CSV.replace('2023-05-01 15:00', '2023-03-26 03:30'));
    assert.is((await runInThread(['verify', csv])).code, 0);
    const { code, stdout } = await runInThread(['verify', csv, ...ZONE]);
    assert.is(code, 1);
    assert.match(stdout, /line 2: created_at: skipped or repeated .* Europe\/Helsinki; add a UTC/);
  }));

test('serve reads a snapshot by its time zone', () =>
  withCsv(async (csv) => {
    const service = await startService(['--snapshot', csv, ...ZONE]);
    const { results } = (await service.get('/rest/map_data_points/')).json<Envelope>();
    assert.equal(timesOf(results as never), IN_HELSINKI);
  }));

test('a zone that there is not is refused by each command', () =>
  withCsv(async (csv, folder) => {
    const output = join(folder, 'out.waypost');
    const journal = join(folder, 'no.journal');
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
    const { stdout } = await runInThread(['compact', '--help', csv, journal, output]);
    assert.match(stdout, '--time-zone <name>');
  }));

test('without a zone, times of rows are those of UTC', () =>
  withCsv(async (csv) => {
    const reader = await openSnapshot(csv, {});
    reader.close();
    assert.equal(timesOf(recordsOf((await readAll(csv)).blocks)), IN_UTC);
  }));

test.run();
