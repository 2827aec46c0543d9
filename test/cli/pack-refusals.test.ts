import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { renderPoint } from '../../src/model/point.js';
import { makeFolder } from '../support/folder.js';
import { blockOf, notification, point, readOnePass, writeNative } from '../support/native.js';
import { FIXTURES, MANY, POINTS, pack, SAMPLE, withRows } from '../support/packing.js';
import { refusal } from '../support/rows.js';
import { assert, test } from '../support/uvu.js';

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
    try {
      await pack(input, output, { signal: abort.signal });
      assert.unreachable();
    } catch (error) {
      assert.is(error, reason);
    }
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
