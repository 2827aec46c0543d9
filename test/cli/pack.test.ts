import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import * as consumers from 'node:stream/consumers';
import { type PackOptions, packSnapshot } from '../../src/cli/pack.js';
import { verify } from '../../src/cli/verify.js';
import { openNative } from '../../src/formats/native/read.js';
import { type Point, renderPoint } from '../../src/model/point.js';
import { isKdSorted } from '../support/kd-order.js';
import {
  blockOf,
  CREATED_AT,
  notification,
  point,
  readOnePass,
  writeNative,
} from '../support/native.js';
import { textsOf } from '../support/rows.js';
import { ROOT } from '../support/service.js';
import { assert, failure, makeFile, makeFolder, refusal, test } from '../support/uvu.js';

const FIXTURES = join(ROOT, 'test/fixtures');
const SAMPLE = join(FIXTURES, 'native/sample.waypost');
/** Enough to need sorting. */
const MANY = join(FIXTURES, 'points.ndjson');
const POINTS: readonly Point[] = [
  point({ id: 3, comment: 'työ', tags: ['a'] }),
  point({ id: 1, lat: -90, lon: 180 }),
  point({ id: 2, lat: 0, lon: 0, created_at: '2020-02-29T23:59:59.999999-03:30' }),
];

/** Packs a file; returns what was printed. */
async function pack(input: string, output: string, options: PackOptions = {}): Promise<string> {
  const lines: string[] = [];
  await packSnapshot(input, output, { print: (line) => lines.push(line), ...options });
  return lines.join('\n');
}

/** A folder with rows.ndjson: the three points and these further lines. */
function rowsFile(...further: readonly string[]) {
  const folder = makeFolder();
  const input = join(folder, 'rows.ndjson');
  fs.writeFileSync(input, [...POINTS.map(renderPoint), ...further, ''].join('\n'));
  fs.utimesSync(input, CREATED_AT / 1000, CREATED_AT / 1000);
  return { input, output: join(folder, 'out.waypost'), folder };
}

test('rows become a native file that verifies, the same one each time', async () => {
  const { input, output, folder } = rowsFile();
  const printed = await pack(input, output);
  const [blocks, report] = await readOnePass(output);
  assert.equal(blocks.flatMap(textsOf), POINTS.map(renderPoint));
  assert.is(report.createdAt, CREATED_AT);
  const bytes = fs.readFileSync(output);
  assert.match(printed, /^packed .*rows.ndjson \(ndjson\) into .*out.waypost\n/);
  assert.match(printed, /3 points, 0 notifications, 1 block\n/);
  assert.match(printed, /MB read, .* MB written in .* s: .*MB\/s, .* points\/s$/);
  const reader = openNative(output, {})!;
  assert.is(reader.origin, 'waypost pack, from rows.ndjson');
  reader.close();
  assert.is(await verify(output, { print() {} }), 0);
  assert.equal(fs.readdirSync(folder).sort(), ['out.waypost', 'rows.ndjson']);
  await pack(input, output);
  assert.ok(fs.readFileSync(output).equals(bytes));
});

test('many points survive, in the order that loads fastest, and across blocks', async () => {
  const folder = makeFolder();
  const lines = fs.readFileSync(MANY, 'utf8').trim().split('\n');
  // more than a block has, with gaps in the order of ids
  const short = lines.map((line) => {
    const { lat, lon, created_at } = JSON.parse(line);
    return JSON.stringify({ lat, lon, created_at }).slice(1);
  });
  const more = Array.from({ length: 66_000 }, (_, i) => {
    return `{"id":${i * 3 + 1},${short[i % short.length]}`;
  });
  const [input, output] = [join(folder, 'many.ndjson'), join(folder, 'many.waypost')];
  for (const rows of [lines, more]) {
    fs.writeFileSync(input, rows.join('\n'));
    const printed = await pack(input, output);
    assert.match(printed, ` ${(fs.statSync(output).size / 1e6).toFixed(1)} MB written in `);
    const [blocks] = await readOnePass(output);
    assert.is(blocks.length, rows === lines ? 1 : 2);
    const places = blocks.flatMap(({ lon, lat }) =>
      [...lon].map((x, i) => ({ lon: x, lat: lat[i]! })),
    );
    assert.ok(isKdSorted(places));
    const ids = blocks.flatMap((block) => [...block.id]);
    assert.is(new Set(ids).size, ids.length);
    const records = blocks.flatMap(textsOf);
    for (const [i, record] of records.entries()) {
      if (!record.startsWith(`{"id":${ids[i]},`)) assert.unreachable(`${ids[i]}: ${record}`);
    }
    if (rows !== lines) continue;
    const expected = lines.map((line) => renderPoint(point(JSON.parse(line))));
    assert.ok(records.sort().join('\n') === expected.sort().join('\n'));
    assert.is(await verify(output, { print() {} }), 0);
  }
});

test('a packed file packed again stays the same', async () => {
  const folder = makeFolder();
  const [first, second] = ['first', 'second'].map((name) => join(folder, name, 'p.waypost'));
  for (const path of [first, second]) fs.mkdirSync(dirname(path!));
  await pack(MANY, first!);
  await pack(first!, second!);
  assert.equal((await readOnePass(second!))[0], (await readOnePass(first!))[0]);
  // only the origin, the name of the input, differed
  await pack(second!, first!);
  assert.ok(fs.readFileSync(first!).equals(fs.readFileSync(second!)));
});

test('a native file can be packed again, with its time and its notifications', async () => {
  const output = join(makeFolder(), 'out.waypost');
  await pack(SAMPLE, output);
  const [before, after] = [await readOnePass(SAMPLE), await readOnePass(output)];
  // in one block, whatever blocks they came in
  assert.ok(before[0].length > 1);
  assert.is(after[0].length, 1);
  assert.equal(after[0].flatMap(textsOf), before[0].flatMap(textsOf));
  assert.equal(after[1].notifications, before[1].notifications);
  assert.is(after[1].createdAt, CREATED_AT);
});

test('notifications come from a file of their own where one is named, unknown keys are counted', async () => {
  const { input, output } = rowsFile();
  const notifications = makeFile(JSON.stringify([notification(5), notification(6)]));
  const printed = await pack(input, output, { notifications });
  assert.match(printed, /2 notifications/);
  assert.equal((await readOnePass(output))[1].notifications, [notification(5), notification(6)]);
  await pack(SAMPLE, output, { notifications });
  assert.equal((await readOnePass(output))[1].notifications, [notification(5), notification(6)]);
  fs.writeFileSync(input, renderPoint(point({ id: 8 })).replace('{', '{"photo":1,"":2,'));
  const other = await pack(input, output);
  assert.match(other, /unknown keys dropped: photo \(1\), "" \(1\)$/);
});

test('progress bars are drawn on a terminal and nowhere else', async () => {
  for (const isTTY of [true, false]) {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
    const progressTo = stream as unknown as NodeJS.WriteStream;
    await pack(MANY, join(makeFolder(), 'out.waypost'), { progressTo });
    const drawn = await consumers.text(stream.end() as PassThrough);
    if (isTTY) {
      assert.match(drawn, /Packing #+.* 100 % \| \d\.\d MB of \d\.\d MB \| .*MB\/s \| 0s left/);
      assert.match(drawn, /Sorting #+.* 100 % \| 3,000 points of 3,000 points \| .* left/);
    } else {
      assert.is(drawn, '');
    }
  }
});

const BAD = '{"id":6,"lat":"91","lon":"0","created_at":"2023-05-01T12:00:00Z"}';

async function refused(packing: Promise<unknown>, why: RegExp): Promise<void> {
  assert.match(await refusal(packing), why);
}

test('a native file that does not verify is not packed again', async () => {
  const folder = makeFolder();
  const output = join(folder, 'out.waypost');
  for (const [name, why] of Object.entries({
    'invalid-id-twice': 'record 3 \\(id 2\\): the id occurs twice',
    'invalid-column': 'says lon 0',
    'cut-short': 'footer',
    'flipped-bit': 'checksum',
  })) {
    const input = join(FIXTURES, `native/${name}.waypost`);
    await refused(pack(input, output), new RegExp(`^${input}: .*${why}`, 's'));
  }
  assert.equal(fs.readdirSync(folder), []);
  // nor a file with two notifications of one id, unless others replace them
  const input = join(folder, 'in.waypost');
  const block = blockOf([point({ id: 1 })]);
  writeNative(input, [block], [notification(7), notification(8), notification(7)]);
  await refused(pack(input, output), /in.waypost: notification 7: the id occurs twice$/);
  assert.equal(fs.readdirSync(folder), ['in.waypost']);
  const notifications = makeFile(JSON.stringify(notification(9)));
  const printed = await pack(input, output, { notifications });
  assert.match(printed, / 1 notification,/);
});

test('an invalid record refuses the input, unless it is allowed', async () => {
  const { input, output, folder } = rowsFile(BAD, BAD);
  fs.writeFileSync(output, 'old');
  await refused(pack(input, output), /rows.ndjson.*line 4/s);
  await refused(pack(input, output, { maxInvalid: 1 }), /rows.ndjson/);
  assert.is(fs.readFileSync(output, 'utf8'), 'old');
  assert.equal(fs.readdirSync(folder).sort(), ['out.waypost', 'rows.ndjson']);
  const printed = await pack(input, output, { maxInvalid: 2 });
  assert.match(printed, /^3 points,/m);
  assert.match(
    printed,
    /2 invalid records left out:\n {2}line 4: lat: must lie within ±90.*\n {2}line 5: lat: .*$/,
  );
});

test('a page of a longer list is not packed, a file without points when asked for only', async () => {
  const folder = makeFolder();
  const [page, output] = [join(folder, 'page.json'), join(folder, 'out.waypost')];
  fs.writeFileSync(page, `{"count":9,"next":null,"results":[${renderPoint(POINTS[0]!)}]}`);
  await refused(pack(page, output), /page.json: is a page of a longer list: .* there are 9/);
  fs.writeFileSync(page, '[]');
  await refused(pack(page, output), /page.json: has no points; --allow-empty takes/);
  assert.not.ok(fs.existsSync(output));
  assert.match(await pack(page, output, { allowEmpty: true }), /^0 points,/m);
});

test('the input itself is not written over, whatever it is called', async () => {
  const { input, folder } = rowsFile();
  const before = fs.readFileSync(input);
  const [soft, hard, inner] = ['soft', 'hard', 'inner'].map((name) => join(folder, name));
  fs.symlinkSync('rows.ndjson', soft!);
  fs.linkSync(input, hard!);
  fs.mkdirSync(inner!);
  const odd = `${inner}/../rows.ndjson`;
  for (const output of [input, soft!, hard!, odd, relative(process.cwd(), input)]) {
    await refused(pack(input, output), /it is the input itself/);
  }
  await refused(pack(soft!, input), /it is the input itself/);
  await refused(pack(SAMPLE, input, { notifications: hard! }), /the input itself/);
  assert.ok(fs.readFileSync(input).equals(before));
});

test('what is not there is named', async () => {
  const { input, output, folder } = rowsFile();
  await refused(pack(join(folder, 'missing'), output), /missing/);
  await refused(pack(input, join(folder, 'no', 'out')), /there is no folder .*no$/);
  await refused(pack(input, folder), /it is a folder/);
  await refused(pack(input, output, { notifications: join(folder, 'none') }), /none/);
  assert.equal(fs.readdirSync(folder), ['rows.ndjson']);
});

test('stopped before or while it sorts, it leaves nothing behind', async () => {
  const folder = makeFolder();
  const abort = new AbortController();
  const reason = new Error('interrupted');
  let listed: string[] = [];
  const stream = new PassThrough();
  const write = (chunk: unknown): boolean => {
    if (String(chunk).includes('Sorting')) {
      listed = fs.readdirSync(folder);
      abort.abort(reason);
    }
    return true;
  };
  const progressTo = Object.assign(stream, { isTTY: true, columns: 120, write });
  const work = pack(MANY, join(folder, 'out.waypost'), {
    progressTo: progressTo as unknown as NodeJS.WriteStream,
    signal: abort.signal,
  });
  assert.is(await failure(work), reason);
  // a kill at that moment would leave this, and no second file
  assert.match(listed.join(), /^\.waypost-[0-9a-f]{16}\.tmp$/);
  assert.equal(fs.readdirSync(folder), []);
  // aborted before it begins
  const again = pack(MANY, join(folder, 'out.waypost'), { signal: abort.signal });
  assert.is(await failure(again), reason);
  assert.equal(fs.readdirSync(folder), []);
});

test.run();
