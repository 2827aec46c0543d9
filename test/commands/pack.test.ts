import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type PackOptions, type PackSummary, packSnapshot } from '../../src/commands/pack.js';
import { verify } from '../../src/commands/verify.js';
import { InputError } from '../../src/errors.js';
import { renderPoint } from '../../src/model/point.js';
import type { PointBlock } from '../../src/snapshot/block.js';
import { openNative } from '../../src/snapshot/native/read.js';
import { isKdSorted } from '../support/kd-order.js';
import { CREATED_AT, notification, point, readOnePass, withFolder } from '../support/native.js';

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures', import.meta.url));
const SAMPLE = join(FIXTURES, 'native/sample.waypost');
/** Enough to need sorting. */
const MANY = join(FIXTURES, 'points.ndjson');
const POINTS = [
  point({ id: 3, comment: 'työ', tags: ['a'] }),
  point({ id: 1, lat: -90, lon: 180 }),
  point({ id: 2, lat: 0, lon: 0, created_at: '2020-02-29T23:59:59.999999-03:30' }),
];
const BAD = '{"id":6,"lat":"91","lon":"0","created_at":"2023-05-01T12:00:00Z"}';

async function pack(
  input: string,
  output: string,
  options: PackOptions = {},
): Promise<[PackSummary, string]> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const summary = await packSnapshot(input, output, { print, ...options });
  return [summary, lines.join('\n')];
}

async function refused(run: () => Promise<unknown>, why: RegExp): Promise<void> {
  let error: unknown;
  try {
    await run();
  } catch (thrown) {
    error = thrown;
  }
  assert.instance(error, InputError, String(error));
  assert.match((error as InputError).message, why);
}

/** A folder with rows.ndjson: the three points and these further lines. */
function withRows(
  further: readonly string[],
  run: (input: string, output: string, folder: string) => Promise<void>,
): Promise<void> {
  return withFolder(async (folder) => {
    const input = join(folder, 'rows.ndjson');
    writeFileSync(input, [...POINTS.map(renderPoint), ...further, ''].join('\n'));
    utimesSync(input, CREATED_AT / 1000, CREATED_AT / 1000);
    await run(input, join(folder, 'out.waypost'), folder);
  });
}

const text = (records: Uint8Array): string => Buffer.from(records).toString();

function recordsOf({ length, records }: PointBlock): string[] {
  let end = 0;
  return Array.from(length, (bytes) => {
    end += bytes;
    return text(records.subarray(end - bytes, end));
  });
}

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

test('many real points survive, in the order that loads fastest', () =>
  withFolder(async (folder) => {
    const output = join(folder, 'out.waypost');
    const [summary] = await pack(MANY, output);
    assert.is(summary.points, 3000);
    assert.is(summary.bytes, readFileSync(output).length);
    const [[block, ...more]] = await readOnePass(output);
    assert.is(more.length, 0);
    const { lon, lat } = block!;
    assert.ok(isKdSorted(Array.from(lon, (each, i) => ({ lon: each, lat: lat[i]! }))));
    const lines = readFileSync(MANY, 'utf8').trim().split('\n');
    const expected = lines.map((line) => renderPoint(point(JSON.parse(line))));
    assert.ok(recordsOf(block!).sort().join('\n') === expected.sort().join('\n'));
    assert.is(await verify(output, { print() {} }), 0);
  }));

test('sorting in memory and by way of the disk make the same bytes', () =>
  withFolder(async (folder) => {
    const [held, spilled] = [join(folder, 'held.waypost'), join(folder, 'spilled.waypost')];
    await pack(MANY, held);
    for (const maxHeldBytes of [0, 500_000]) {
      await pack(MANY, spilled, { maxHeldBytes });
      assert.ok(readFileSync(spilled).equals(readFileSync(held)), `${maxHeldBytes} bytes held`);
    }
    // two blocks, with gaps in the order of ids
    const lines = readFileSync(MANY, 'utf8').trim().split('\n');
    const rows = Array.from({ length: 70_000 }, (_, i) =>
      lines[i % lines.length]!.replace(/"id": ?\d+/, `"id":${i * 3 + 1}`),
    );
    const many = join(folder, 'many.ndjson');
    writeFileSync(many, rows.join('\n'));
    await pack(many, held);
    await pack(many, spilled, { maxHeldBytes: 1e6 });
    assert.ok(readFileSync(spilled).equals(readFileSync(held)));
    assert.is(await verify(held, { print() {} }), 0);
  }));

test('a packed file packed again stays the same', () =>
  withFolder(async (folder) => {
    const [first, second] = ['first', 'second'].map((name) => join(folder, name, 'p.waypost'));
    for (const path of [first, second]) mkdirSync(dirname(path!));
    await pack(MANY, first!);
    await pack(first!, second!);
    assert.equal((await readOnePass(second!))[0], (await readOnePass(first!))[0]);
    // the origin named another file before
    await pack(second!, first!);
    assert.ok(readFileSync(first!).equals(readFileSync(second!)));
  }));

test('a native file can be packed again, with its time and its notifications', () =>
  withFolder(async (folder) => {
    const output = join(folder, 'out.waypost');
    await pack(SAMPLE, output);
    const [before, after] = [await readOnePass(SAMPLE), await readOnePass(output)];
    assert.equal(
      after[0].map((block) => text(block.records)),
      before[0].map((block) => text(block.records)),
    );
    assert.equal(after[1].notifications, before[1].notifications);
    assert.is(after[1].createdAt, CREATED_AT);
  }));

test('a native file that does not verify is not packed again', () =>
  withFolder(async (folder) => {
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
  }));

test('notifications come from a file of their own where one is named', () =>
  withRows([], async (input, output, folder) => {
    const notificationsPath = join(folder, 'notifications.json');
    writeFileSync(notificationsPath, JSON.stringify([notification(5), notification(6)]));
    const [, printed] = await pack(input, output, { notificationsPath });
    assert.match(printed, /2 notifications/);
    assert.equal((await readOnePass(output))[1].notifications, [notification(5), notification(6)]);
    await pack(SAMPLE, output, { notificationsPath });
    assert.equal((await readOnePass(output))[1].notifications, [notification(5), notification(6)]);
  }));

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

test('a page of a longer list, or a file without points, is packed when asked for only', () =>
  withFolder(async (folder) => {
    const [page, output] = [join(folder, 'page.json'), join(folder, 'out.waypost')];
    writeFileSync(page, `{"count":9,"next":null,"results":[${renderPoint(POINTS[0]!)}]}`);
    await refused(
      () => pack(page, output),
      /page.json: is a page of a longer list: .* there are 9/,
    );
    const [summary] = await pack(page, output, { acceptPage: true });
    assert.is(summary.points, 1);
    writeFileSync(page, '[]');
    await refused(() => pack(page, output), /page.json: has no points; --allow-empty takes/);
    assert.is((await readOnePass(output))[1].points, 1);
    assert.is((await pack(page, output, { allowEmpty: true }))[0].points, 0);
  }));

test('unknown keys are counted', () =>
  withRows(
    [renderPoint(point({ id: 8 })).replace('{', '{"photo":1,"mood":2,')],
    async (input, output) => {
      const [, printed] = await pack(input, output);
      assert.match(printed, /unknown keys dropped: photo \(1\), mood \(1\)$/);
    },
  ));

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
    await refused(() => pack(SAMPLE, input, { notificationsPath: hard! }), /the input itself/);
    assert.ok(readFileSync(input).equals(before));
  }));

test('what is not there is named', () =>
  withRows([], async (input, output, folder) => {
    await refused(() => pack(join(folder, 'missing'), output), /missing/);
    await refused(() => pack(input, join(folder, 'no', 'out')), /there is no folder .*no$/);
    await refused(() => pack(input, folder), /it is a folder/);
    await refused(() => pack(input, output, { notificationsPath: join(folder, 'none') }), /none/);
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

test('stopped while it sorts, it leaves nothing behind', () =>
  withFolder(async (folder) => {
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
    assert.match(listed.join(), /^\.waypost-[0-9a-f]{12}-\d+-\d+-[0-9a-f]{8}\.tmp$/);
    assert.equal(readdirSync(folder), []);
  }));

test('progress bars are drawn on a terminal and nowhere else', () =>
  withFolder(async (folder) => {
    for (const isTTY of [true, false]) {
      const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
      const progressTo = stream as unknown as NodeJS.WriteStream;
      await pack(MANY, join(folder, 'out.waypost'), { progressTo });
      const drawn = String(stream.read() ?? '');
      if (isTTY) {
        assert.match(drawn, /Packing #+.* 100 % \| \d\.\d MB of \d\.\d MB \| .*MB\/s \| 0s left/);
        assert.match(drawn, /Sorting #+.* 100 % \| 3,000 points of 3,000 points \| .* left/);
      } else {
        assert.is(drawn, '');
      }
    }
  }));

test.run();
