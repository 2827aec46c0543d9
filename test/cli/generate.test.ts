import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inventPoints } from '../../src/cli/generate/notes.js';
import { generateSnapshot } from '../../src/cli/generate.js';
import { verify } from '../../src/cli/verify.js';
import { type Point, renderPoint } from '../../src/model/point.js';
import { readOnePass } from '../support/native.js';
import { textsOf } from '../support/rows.js';
import { ascending, assert, failure, makeFolder, refusal, test } from '../support/uvu.js';

const SAMPLE = { points: 5000, seed: 1 };

const points = invented(SAMPLE.seed, SAMPLE.points);

type Asked = { readonly points: number; readonly seed: number };

/** Writes invented points to a file of the folder, in the form of its name; returns its bytes. */
async function generate(folder: string, name: string, asked: Asked): Promise<Buffer> {
  const out = join(folder, name);
  await generateSnapshot({ ...asked, out, print: () => {} });
  return readFileSync(out);
}

test('the sample is what the generator makes today, byte for byte', async () => {
  const fresh = await generate(makeFolder(), 'fresh.waypost', SAMPLE);
  assert.ok(fresh.equals(readFileSync('data/sample.waypost')), 'run `make data` and commit it');
});

test('the same seed gives the same bytes, another seed others, in every form', async () => {
  const folder = makeFolder();
  for (const name of ['a.waypost', 'a.ndjson', 'A.NDJSON']) {
    const first = await generate(folder, name, { points: 700, seed: 9 });
    const second = await generate(folder, `second-${name}`, { points: 700, seed: 9 });
    const other = await generate(folder, `other-${name}`, { points: 700, seed: 10 });
    assert.ok(first.equals(second), name);
    assert.not.ok(first.equals(other), name);
  }
});

test('every record is valid, as rendered, and its columns say the same', async () => {
  const path = join(makeFolder(), 'a.waypost');
  await generateSnapshot({ ...SAMPLE, out: path, print: () => {} });
  assert.is(await verify(path, { print() {} }), 0);
  const [blocks, { createdAt }] = await readOnePass(path);
  assert.equal(blocks.flatMap(textsOf).sort(), points.map(renderPoint).sort());
  const latest = Math.max(...points.map(({ modifiedAt }) => modifiedAt.micros));
  assert.ok(latest < createdAt * 1000, 'the file is later than all in it');
});

test('ids are 1 to N, each once, for every N, and follow neither time nor place', () => {
  for (const count of [1, 2, 3, 4, 5, 64, 65, 1000, 4097]) {
    const ids = invented(7, count).map(({ id }) => id);
    const every = Array.from({ length: count }, (_, index) => index + 1);
    assert.equal(ascending(ids), every);
  }
  const keys = points.map((point, i) => [point.createdAt.micros, Number(point.lat), i] as const);
  for (const key of [0, 1, 2] as const) {
    const places = [...points.keys()].sort((a, b) => keys[a]![key] - keys[b]![key]);
    const sorted = places.map((place) => points[place]!);
    const rising = sorted.filter((point, i) => i > 0 && point.id > sorted[i - 1]!.id).length;
    assert.ok(Math.abs(rising / SAMPLE.points - 0.5) < 0.03, `${rising} ids rise`);
  }
});

test('a point depends on its seed and place alone, not on what was asked before', () => {
  const other = inventPoints(SAMPLE.seed, SAMPLE.points);
  assert.equal(other(4321), points[4321]);
  assert.equal(other(0), points[0]);
  // and of more points the first are the same, but for their ids and images
  const { id: _, image: __, ...longer } = inventPoints(SAMPLE.seed, 9000)(17);
  const { id: ___, image: ____, ...shorter } = points[17]!;
  assert.equal(longer, shorter);
});

test('file names without the ending of a format are refused', async () => {
  const folder = makeFolder();
  for (const name of ['a', 'a.json', 'a.waypost.gz', 'a.ndjson.gz', 'waypost', 'a.gz']) {
    const options = { ...SAMPLE, out: join(folder, name), print: () => {} };
    assert.match(await refusal(generateSnapshot(options)), /\.waypost.*\.ndjson/);
  }
});

test('work that is stopped leaves the file as it was, and nothing beside it', async () => {
  const folder = makeFolder();
  for (const name of ['a.waypost', 'a.ndjson']) {
    const before = await generate(folder, name, { points: 10, seed: 1 });
    const stop = new AbortController();
    const out = join(folder, name);
    const print = (): void => assert.unreachable();
    const { signal } = stop;
    const work = generateSnapshot({ points: 200_000, seed: 1, out, print, signal });
    setImmediate(() => stop.abort());
    assert.is(await failure(work), signal.reason);
    assert.ok(readFileSync(out).equals(before));
  }
  assert.equal(readdirSync(folder).sort(), ['a.ndjson', 'a.waypost']);
});

function invented(seed: number, count: number): Point[] {
  const point = inventPoints(seed, count);
  return Array.from({ length: count }, (_, index) => point(index));
}

test.run();
