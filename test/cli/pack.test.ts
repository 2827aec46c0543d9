import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import * as consumers from 'node:stream/consumers';
import { verify } from '../../src/cli/verify.js';
import { openNative } from '../../src/formats/native/read.js';
import { renderPoint } from '../../src/model/point.js';
import { failure, refusal } from '../support/errors.js';
import { isKdSorted } from '../support/kd-order.js';
import {
  blockOf,
  CREATED_AT,
  notification,
  point,
  readOnePass,
  writeNative,
} from '../support/native.js';
import { FIXTURES, MANY, POINTS, pack, SAMPLE, withRows } from '../support/packing.js';
import { textsOf } from '../support/rows.js';
import { assert, makeFolder, test } from '../support/uvu.js';

const text = (records: Uint8Array): string => Buffer.from(records).toString();

test('rows become a native file that verifies', () =>
  withRows([], async (input, output, folder) => {
    const [summary, printed] = await pack(input, output);
    const [blocks, report] = await readOnePass(output);
    assert.is(
      blocks.map((block) => text(block.records)).join(''),
      POINTS.map(renderPoint).join(''),
    );
    assert.is(report.createdAt, CREATED_AT);
    assert.is(summary.points, 3);
    assert.is(summary.bytes, readFileSync(output).length);
    assert.is(summary.bytesRead, readFileSync(input).length);
    assert.match(printed, /^packed .*rows.ndjson \(ndjson\) into .*out.waypost\n/);
    assert.match(printed, /3 points, 0 notifications, 1 block\n/);
    assert.match(printed, /MB read, .* MB written in .* s: .*MB\/s, .* points\/s$/);
    const reader = openNative(output, {});
    assert.is(reader.origin, 'waypost pack, from rows.ndjson');
    reader.close();
    assert.is(await verify(output, { print() {} }), 0);
    assert.equal(readdirSync(folder).sort(), ['out.waypost', 'rows.ndjson']);
  }));

test('the same input makes the same bytes', () =>
  withRows([], async (input, output) => {
    await pack(input, output);
    const first = readFileSync(output);
    await pack(input, output);
    assert.ok(readFileSync(output).equals(first));
  }));

test('many real points survive, in the order that loads fastest', async () => {
  const output = join(makeFolder(), 'out.waypost');
  const [summary] = await pack(MANY, output);
  assert.is(summary.points, 3000);
  assert.is(summary.bytes, readFileSync(output).length);
  const [[block, ...more]] = await readOnePass(output);
  assert.is(more.length, 0);
  const { lon, lat } = block!;
  assert.ok(isKdSorted(Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! }))));
  const lines = readFileSync(MANY, 'utf8').trim().split('\n');
  const expected = lines.map((line) => renderPoint(point(JSON.parse(line))));
  assert.ok(textsOf(block!).sort().join('\n') === expected.sort().join('\n'));
  assert.is(await verify(output, { print() {} }), 0);
});

test('points that fill more than one block are sorted across them', async () => {
  const folder = makeFolder();
  // two blocks, with gaps in the order of ids
  const lines = readFileSync(MANY, 'utf8').trim().split('\n');
  const rows = Array.from({ length: 66_000 }, (_, i) =>
    lines[i % lines.length]!.replace(/"id": ?\d+/, `"id":${i * 3 + 1}`),
  );
  const [many, packed] = [join(folder, 'many.ndjson'), join(folder, 'many.waypost')];
  writeFileSync(many, rows.join('\n'));
  const [summary] = await pack(many, packed);
  assert.equal([summary.points, summary.blocks], [66_000, 2]);
  const [blocks] = await readOnePass(packed);
  const at = blocks.flatMap(({ lon, lat }) =>
    Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! })),
  );
  assert.ok(isKdSorted(at));
  const ids = blocks.flatMap((block) => [...block.id]);
  assert.is(new Set(ids).size, ids.length);
  for (const [i, record] of blocks.flatMap(textsOf).entries()) {
    if (!record.startsWith(`{"id":${ids[i]},`)) assert.unreachable(`${ids[i]}: ${record}`);
  }
});

test('a packed file packed again stays the same', async () => {
  const folder = makeFolder();
  const [first, second] = ['first', 'second'].map((name) => join(folder, name, 'p.waypost'));
  for (const path of [first, second]) mkdirSync(dirname(path!));
  await pack(MANY, first!);
  await pack(first!, second!);
  assert.equal((await readOnePass(second!))[0], (await readOnePass(first!))[0]);
  // the origin named another file before
  await pack(second!, first!);
  assert.ok(readFileSync(first!).equals(readFileSync(second!)));
});

test('a native file can be packed again, with its time and its notifications', async () => {
  const output = join(makeFolder(), 'out.waypost');
  await pack(SAMPLE, output);
  const [before, after] = [await readOnePass(SAMPLE), await readOnePass(output)];
  // in one block, whatever blocks they came in
  assert.ok(before[0].length > 1);
  assert.equal(
    after[0].map((block) => text(block.records)),
    [before[0].map((block) => text(block.records)).join('')],
  );
  assert.equal(after[1].notifications, before[1].notifications);
  assert.is(after[1].createdAt, CREATED_AT);
});

test('notifications come from a file of their own where one is named', () =>
  withRows([], async (input, output, folder) => {
    const notificationsPath = join(folder, 'notifications.json');
    writeFileSync(notificationsPath, JSON.stringify([notification(5), notification(6)]));
    const [, printed] = await pack(input, output, { notifications: notificationsPath });
    assert.match(printed, /2 notifications/);
    assert.equal((await readOnePass(output))[1].notifications, [notification(5), notification(6)]);
    await pack(SAMPLE, output, { notifications: notificationsPath });
    assert.equal((await readOnePass(output))[1].notifications, [notification(5), notification(6)]);
  }));

test('unknown keys are counted', () =>
  withRows(
    [renderPoint(point({ id: 8 })).replace('{', '{"photo":1,"mood":2,')],
    async (input, output) => {
      const [, printed] = await pack(input, output);
      assert.match(printed, /unknown keys dropped: photo \(1\), mood \(1\)$/);
    },
  ));

test('progress bars are drawn on a terminal and nowhere else', async () => {
  const folder = makeFolder();
  for (const isTTY of [true, false]) {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
    const progressTo = stream as unknown as NodeJS.WriteStream;
    await pack(MANY, join(folder, 'out.waypost'), { progressTo });
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

async function refused(run: () => Promise<unknown>, why: RegExp): Promise<void> {
  assert.match(await refusal(run()), why);
}

test('a native file that does not verify is not packed again', async () => {
  const folder = makeFolder();
  const output = join(folder, 'out.waypost');
  for (const [name, why] of [
    ['invalid-id-twice', /record 3 \(id 2\): the id occurs twice/],
    ['invalid-column', /says lon 0/],
    ['cut-short', /footer/],
    ['flipped-bit', /checksum/],
  ] as const) {
    const input = join(FIXTURES, `native/${name}.waypost`);
    await refused(() => pack(input, output), why);
    await refused(() => pack(input, output), new RegExp(`^${input}: `));
  }
  assert.equal(readdirSync(folder), []);
});

test('notifications of one id are not packed again, unless others take their place', async () => {
  const folder = makeFolder();
  const [input, output] = [join(folder, 'in.waypost'), join(folder, 'out.waypost')];
  const block = blockOf([point({ id: 1 })]);
  writeNative(input, [block], [notification(7), notification(8), notification(7)]);
  await refused(() => pack(input, output), /in.waypost: notification 7: the id occurs twice$/);
  assert.equal(readdirSync(folder), ['in.waypost']);
  const notificationsPath = join(folder, 'notifications.ndjson');
  writeFileSync(notificationsPath, JSON.stringify(notification(9)));
  const [summary] = await pack(input, output, { notifications: notificationsPath });
  assert.is(summary.notifications, 1);
});

test('an invalid record refuses the input, unless it is allowed', () =>
  withRows([BAD, BAD], async (input, output, folder) => {
    writeFileSync(output, 'old');
    await refused(() => pack(input, output), /rows.ndjson.*line 4/s);
    await refused(() => pack(input, output, { maxInvalid: 1 }), /rows.ndjson/);
    assert.is(readFileSync(output, 'utf8'), 'old');
    assert.equal(readdirSync(folder).sort(), ['out.waypost', 'rows.ndjson']);
    const [summary, printed] = await pack(input, output, { maxInvalid: 2 });
    assert.is(summary.points, 3);
    assert.match(
      printed,
      /2 invalid records left out:\n {2}line 4: lat: must lie within ±90.*\n {2}line 5: lat: .*$/,
    );
  }));

test('a page of a longer list, or a file without points, is packed when asked for only', async () => {
  const folder = makeFolder();
  const [page, output] = [join(folder, 'page.json'), join(folder, 'out.waypost')];
  writeFileSync(page, `{"count":9,"next":null,"results":[${renderPoint(POINTS[0]!)}]}`);
  await refused(() => pack(page, output), /page.json: is a page of a longer list: .* there are 9/);
  const [summary] = await pack(page, output, { acceptPage: true });
  assert.is(summary.points, 1);
  writeFileSync(page, '[]');
  await refused(() => pack(page, output), /page.json: has no points; --allow-empty takes/);
  assert.is((await readOnePass(output))[1].points, 1);
  assert.is((await pack(page, output, { allowEmpty: true }))[0].points, 0);
});

test('the input itself is not written over, whatever it is called', () =>
  withRows([], async (input, _, folder) => {
    const before = readFileSync(input);
    const [soft, hard, inner] = ['soft', 'hard', 'inner'].map((name) => join(folder, name));
    symlinkSync('rows.ndjson', soft!);
    linkSync(input, hard!);
    mkdirSync(inner!);
    const odd = `${inner}/../rows.ndjson`;
    for (const output of [input, soft!, hard!, odd, relative(process.cwd(), input)]) {
      await refused(() => pack(input, output), /it is the input itself/);
    }
    await refused(() => pack(soft!, input), /it is the input itself/);
    await refused(() => pack(SAMPLE, input, { notifications: hard! }), /the input itself/);
    assert.ok(readFileSync(input).equals(before));
  }));

test('what is not there is named', () =>
  withRows([], async (input, output, folder) => {
    await refused(() => pack(join(folder, 'missing'), output), /missing/);
    await refused(() => pack(input, join(folder, 'no', 'out')), /there is no folder .*no$/);
    await refused(() => pack(input, folder), /it is a folder/);
    await refused(() => pack(input, output, { notifications: join(folder, 'none') }), /none/);
    assert.equal(readdirSync(folder), ['rows.ndjson']);
  }));

test('aborted, it leaves nothing behind', () =>
  withRows([], async (input, output, folder) => {
    const abort = new AbortController();
    const reason = new Error('interrupted');
    abort.abort(reason);
    assert.is(await failure(pack(input, output, { signal: abort.signal })), reason);
    assert.equal(readdirSync(folder), ['rows.ndjson']);
  }));

test('stopped while it sorts, it leaves nothing behind', async () => {
  const folder = makeFolder();
  const abort = new AbortController();
  const reason = new Error('interrupted');
  let listed: string[] = [];
  const stream = new PassThrough();
  const write = (chunk: unknown): boolean => {
    if (String(chunk).includes('Sorting')) {
      listed = readdirSync(folder);
      abort.abort(reason);
    }
    return true;
  };
  const progressTo = Object.assign(stream, { isTTY: true, columns: 120, write });
  const work = pack(MANY, join(folder, 'out.waypost'), {
    progressTo: progressTo as unknown as NodeJS.WriteStream,
    signal: abort.signal,
  });
  assert.is(await work.catch((error: unknown) => error), reason);
  // a kill at that moment would leave this, and no second file
  assert.match(listed.join(), /^\.waypost-[0-9a-f]{16}\.tmp$/);
  assert.equal(readdirSync(folder), []);
});

test.run();
