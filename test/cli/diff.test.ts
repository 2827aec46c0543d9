import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { diff } from '../../src/cli/diff.js';
import { Random } from '../../src/cli/generate/random.js';
import { RECORD_KEYS } from '../../src/model/point.js';
import { blockOf, point, writeNative } from '../support/native.js';
import { parquetOf } from '../support/parquet.js';
import { csv, type Fields, ndjson, recordsOf } from '../support/rows.js';
import { runInThread } from '../support/service.js';
import { assert, failure, makeFile, makeFolder, test } from '../support/uvu.js';

/** A record in its rendered form. */
function rendered(fields: Fields): Fields {
  return recordsOf([blockOf([point(fields)])])[0]!;
}

const WRITERS: Readonly<Record<string, (path: string, records: readonly Fields[]) => void>> = {
  native: (path, records) => {
    const firsts = records.map((_, at) => at).filter((at) => at % 30 === 0);
    const blocks = firsts.map((at) => blockOf(records.slice(at, at + 30).map(point)));
    writeNative(path, blocks);
  },
  ndjson: (path, records) => writeFileSync(path, ndjson(...records)),
  csv: (path, records) => writeFileSync(path, csv(records, ',')),
  parquet: (path, records) => writeFileSync(path, parquetOf(records)),
};

async function run(
  first: string,
  second: string,
  format: 'summary' | 'ndjson',
  heldBytes?: number,
): Promise<{ code: number; lines: string[] }> {
  const stdout = new PassThrough();
  const said = text(stdout);
  const code = await diff(first, second, { format, stdout }, heldBytes);
  stdout.end();
  return { code, lines: (await said).split('\n').slice(0, -1) };
}

const changes: Readonly<Record<string, (random: Random) => unknown>> = {
  status: () => 'FIXED',
  comment: (random) => `"${random.int(1e6)}é\n`,
  image: () => '/media/1/a.jpg',
  lat: (random) => random.int(90),
  lon: (random) => -random.int(180),
  is_processed: () => true,
  created_by: (random) => random.int(9),
  tags: (random) => ['a', `${random.int(99)}`],
  created_at: () => '2021-05-01T12:00:00.000000+00:00',
  modified_at: () => '2024-05-01T12:00:00.000000+03:00',
};

const KINDS = ['native ndjson', 'csv native', 'parquet csv', 'ndjson ndjson'];

for (const [index, kinds] of KINDS.entries()) {
  test(`${kinds}: what a naive comparison finds, in any order of records`, async () => {
    const folder = makeFolder();
    const random = new Random(100 + index, 'point');
    const all = Array.from({ length: 200 }, (_, at) =>
      rendered({ id: 7 * at + 1, lat: random.int(90), lon: random.int(180), comment: `${at}` }),
    );
    const before = all.filter(() => random.int(10) > 0);
    const after = all
      .filter(() => random.int(10) > 0)
      .map((one) => {
        if (random.int(4) > 0) return one;
        const key = Object.keys(changes)[random.int(10)]!;
        return rendered({ ...one, [key]: changes[key]!(random) });
      })
      .reverse();
    const [a, b] = [join(folder, 'a'), join(folder, 'b')];
    const [first, second] = kinds.split(' ');
    WRITERS[first!]!(a, before);
    WRITERS[second!]!(b, after);
    const { code, lines } = await run(a, b, 'ndjson');
    assert.is(code, 1);
    const [old, now] = [before, after].map((list) => new Map(list.map((one) => [one['id'], one])));
    const changed = after.flatMap((record) => {
      const { id } = record;
      const was = old!.get(id);
      if (was === undefined) return [{ change: 'came', id, record }];
      const fields = RECORD_KEYS.filter(
        (key) => JSON.stringify(was[key]) !== JSON.stringify(record[key]),
      );
      return fields.length === 0 ? [] : [{ change: 'changed', id, fields, record }];
    });
    const went = before.filter(({ id }) => !now!.has(id));
    const gone = went.map((record) => ({ change: 'went', id: record['id'], record }));
    const found = lines.map((line) => JSON.parse(line));
    assert.equal(found, [...gone, ...changed]);
    const { lines: summary } = await run(a, b, 'summary');
    // many parts, and three
    for (const bytes of [2_000, 7_500]) {
      assert.equal((await run(a, b, 'ndjson', bytes)).lines, lines, `${bytes} bytes`);
      assert.equal((await run(a, b, 'summary', bytes)).lines, summary, `${bytes} bytes`);
    }
    const count = (change: string): number => changed.filter((one) => one.change === change).length;
    assert.match(summary[2]!, new RegExp(`^ {2}came +${count('came')}: ids \\d+`));
    assert.match(summary[3]!, new RegExp(`^ {2}went +${went.length}: ids \\d+`));
    assert.match(summary[4]!, new RegExp(`^ {2}changed +${count('changed')}: ids \\d+`));
  });
}

test('the same points are the same in every format and order', async () => {
  const folder = makeFolder();
  const records = Array.from({ length: 50 }, (_, at) =>
    rendered({ id: at + 1, lat: at, lon: -at, tags: [`${at}`] }),
  );
  for (const [name, write] of Object.entries(WRITERS)) write(join(folder, name), records);
  writeFileSync(join(folder, 'reversed'), ndjson(...[...records].reverse()));
  for (const name of [...Object.keys(WRITERS), 'reversed']) {
    const { code, lines } = await run(join(folder, 'native'), join(folder, name), 'summary');
    assert.equal([code, lines.at(-1)], [0, 'the points are the same'], name);
  }
});

/** Blocks of one record each: a reader has one of them in memory. */
function writeLarge(path: string, ids: readonly number[], comment: string): void {
  const of = (id: number): Fields => ({ id, comment: comment.repeat(200_000) });
  const blocks = ids.map((id) => blockOf([point(of(id))]));
  writeNative(path, blocks);
}

test('memory does not grow with what differs', async () => {
  const folder = makeFolder();
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  const ids = Array.from({ length: 60 }, (_, at) => at + 1);
  writeLarge(a, ids.slice(0, 50), 'a');
  writeLarge(b, ids.slice(10).reverse(), 'b');
  const most: Record<string, number> = {};
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const memory = (): number => {
    collect();
    // what the first one found is freed meanwhile, or by this one
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = memory();
  let lines = 0;
  const stdout = new Writable({
    write(line: Buffer, _, done) {
      // takes 20 ms
      if (lines++ % 12 > 0) return done();
      const change = /came|went|changed/.exec(`${line.subarray(0, 40)}`)![0];
      most[change] = Math.max(most[change] ?? 0, memory() - before);
      done();
    },
  });
  assert.is(await diff(a, b, { format: 'ndjson', stdout }, 1_000_000), 1);
  assert.equal(Object.keys(most), ['went', 'came', 'changed']);
  for (const bytes of Object.values(most)) assert.ok(bytes < 5e6, JSON.stringify(most));
});

const [path, other] = [1, 2].map((id) => makeFile(ndjson(rendered({ id })))) as [string, string];

test('interrupted, also while its reader is stuck, it ends', async () => {
  const abort = new AbortController();
  const reason = new Error('interrupted');
  const stdout = new PassThrough({ highWaterMark: 1 });
  const options = { format: 'ndjson', stdout, signal: abort.signal } as const;
  const stuck = diff(path, other, options);
  await once(stdout, 'readable');
  abort.abort(reason);
  assert.is(await failure(stuck), reason);
  for (const isTTY of [true, false]) {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
    const progressTo = stream as unknown as NodeJS.WriteStream;
    assert.is(await failure(diff(path, path, { ...options, progressTo })), reason);
  }
});

test('trouble is told apart from a difference', async () => {
  const cases: [given: string[], code: number][] = [
    [[path, path], 0],
    [[path, other], 1],
    [[path, `${other}.none`], 2],
    [[path], 2],
    [['--help'], 0],
  ];
  for (const [given, code] of cases) assert.is((await runInThread(['diff', ...given])).code, code);
});

test.run();
