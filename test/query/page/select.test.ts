import { Permutation, Random } from '../../../src/cli/generate/random.js';
import type { Dataset } from '../../../src/index/dataset.js';
import { Budget, EXCEEDED } from '../../../src/model/budget.js';
import { geodesic } from '../../../src/model/geo.js';
import type { Box, Circle, Filters } from '../../../src/model/query.js';
import {
  BITS_PER_SPAN,
  createScratch,
  FEW,
  type Scratch,
} from '../../../src/query/common/scratch.js';
import { createEngine, type Hints } from '../../../src/query/engine.js';
import { selectFew, selectRanked } from '../../../src/query/page/select.js';
import { Centre } from '../../../src/query/region/centre.js';
import { assertSame } from '../../support/compare.js';
import { engineOf, idsOf } from '../../support/engine.js';
import { HOSTILE_DATA, hostileDataset } from '../../support/hostile-data.js';
import type { Note } from '../../support/notes.js';
import { assert, rounds, test } from '../../support/uvu.js';

const SEED = 71;

/** Selects from these ranks and asserts that the window is that of the sorted list. */
function assertSelect(
  scratch: Scratch,
  domain: number,
  ranks: readonly number[],
  from: number,
  to: number,
  label: string,
): void {
  // rows whose ranks are their numbers, in whatever order they come
  const rows = Uint32Array.from({ length: domain }, (_, rank) => rank);
  const order = { keys: new Float64Array(0), rows, ranks: new Int32Array(rows) };
  const out = new Uint32Array(to - from + 2).fill(99);
  selectRanked(scratch, Int32Array.from(ranks), order, from, to, out);
  const expected = ranks.toSorted((a, b) => a - b).slice(from, to);
  assertSame(out, [...expected, 99, 99], label);
  const { bits, spans } = scratch.selection;
  assert.is(bits.findIndex(Boolean), -1, `${label}: bits are left`);
  assert.is(spans.findIndex(Boolean), -1, `${label}: spans are left`);
}

/** Distinct ranks below `domain` in random order. */
function draw(domain: number, count: number, seed: number): number[] {
  const permutation = new Permutation(seed, domain);
  return Array.from({ length: count }, (_, index) => permutation.at(index));
}

test('windows of few ranks and of many are those of the sorted list', () => {
  const random = new Random(SEED, 'point');
  // with few ranks of a large domain it sorts, with many it marks them in the bitmap
  for (const domain of [1, 31, 32, 33, 64, 1000, BITS_PER_SPAN, BITS_PER_SPAN + 1, 50_000]) {
    const scratch = createScratch(domain);
    for (let round = 0; round < 60; round++) {
      random.restart(round + 1);
      const count = 1 + random.int(random.pick([Math.min(domain, 63), domain, domain]));
      const from = random.pick([0, random.int(count), count - 1]);
      const to = random.pick([from + 1, Math.min(count, from + 1 + random.int(1000)), count]);
      const label = `seed ${SEED}, domain ${domain}, round ${round}: ${count}, ${from} to ${to}`;
      assertSelect(scratch, domain, draw(domain, count, round), from, to, label);
    }
  }
});

test('every domain size around a word of the bitmap, all ranks taken', () => {
  for (let domain = 64; domain <= 130; domain++) {
    const ranks = draw(domain, domain, domain);
    for (let from = 0; from < domain; from += 7) {
      const to = Math.min(domain, from + 13);
      assertSelect(createScratch(domain), domain, ranks, from, to, `domain ${domain}, ${from}`);
    }
  }
});

test('ranks that crowd at the ends of the domain, with empty spans between', () => {
  const domain = 20 * BITS_PER_SPAN + 5;
  const scratch = createScratch(domain);
  const low = Array.from({ length: 3_000 }, (_, i) => i);
  const high = Array.from({ length: 3_000 }, (_, i) => domain - 1 - i);
  for (const ranks of [low, high, [...high, ...low]]) {
    for (const from of [0, 1, 2_998, 2_999, 3_000, 5_999]) {
      if (from >= ranks.length) continue;
      const to = Math.min(ranks.length, from + 3);
      assertSelect(scratch, domain, ranks, from, to, `${ranks[0]} of ${ranks.length}, ${from}`);
    }
  }
});

test('words whose highest bit is set, alone and with others', () => {
  const scratch = createScratch(4096);
  const highest = Array.from({ length: 128 }, (_, word) => 32 * word + 31);
  assertSelect(scratch, 4096, highest, 0, 128, 'bit 31 of each word');
  const ends = highest.flatMap((rank) => [rank, rank - 31]);
  assertSelect(scratch, 4096, ends, 0, 256, 'bits 0 and 31');
});

/** Selects by key and id, and asserts the window of the sorted list; says whether it was done. */
function assertFew(keys: readonly number[], from: number, to: number, label: string): boolean {
  const rows = draw(10_000, keys.length, 7);
  // ids run against the rows
  const idRanks = Int32Array.from({ length: 10_000 }, (_, row) => 9_999 - row);
  const list = Int32Array.from(rows);
  const { selection } = createScratch(1);
  selection.keys.set(keys);
  const out = new Uint32Array(to - from + 2).fill(99);
  const isDone = selectFew(selection, list, Math.max(...keys), idRanks, from, to, out);
  const sorted = rows
    .map((row, i) => ({ row, key: keys[i]! }))
    .sort((a, b) => a.key - b.key || b.row - a.row)
    .map(({ row }) => row);
  if (isDone) assertSame(out, [...sorted.slice(from, to), 99, 99], label);
  else assert.equal([...list], rows, `${label}: changed`);
  return isDone;
}

test('windows of a few, by key and then by id', () => {
  const random = new Random(SEED, 'point');
  let done = 0;
  for (let round = 0; round < 1_000; round++) {
    random.restart(round + 1);
    const count = 1 + random.int(random.pick([8, 100, FEW]));
    const scale = random.pick([1e-18, 1, 1e6]);
    // a few values that many share, or all different
    const steps = random.pick([3, 50, 1e9]);
    const keys = Array.from({ length: count }, () => random.int(steps) * scale);
    const from = random.pick([0, random.int(count), count - 1]);
    const to = random.pick([from + 1, Math.min(count, from + 1 + random.int(100)), count]);
    const label = `seed ${SEED}, round ${round}: ${count} keys, ${from} to ${to}`;
    if (assertFew(keys, from, to, label)) done++;
  }
  assert.ok(done > 500 && done < 1_000, `${done} were done`);
});

test('a few keys that are all the same, or nought, or crowd beside one that is far', () => {
  assert.ok(assertFew(Array(60).fill(0), 3, 20, 'nought'));
  assert.ok(assertFew(Array(60).fill(5), 3, 20, 'five'));
  assert.ok(assertFew([0.25], 0, 1, 'one'));
  assert.ok(assertFew([1e-318, 3e-318, 0, 2e-318], 1, 3, 'smaller than a scale can tell'));
  const crowd = Array.from({ length: 200 }, (_, i) => i / 1e9);
  assert.not(assertFew([...crowd, 1], 3, 20, 'a crowd'));
});

const NEAREST_SEED = 82;
const POINTS = rounds(10_000);
/** Points all over the map: enough for some hundred blocks. */
const SPREAD = 30_000;
const NOON = Date.UTC(2023, 4, 1, 12) * 1000;

/** Ids of all rows in the circle, nearest first. */
function sortedIds({ coords, count, byId }: Dataset, { lon, lat, radius }: Circle): number[] {
  const centre = new Centre(lon, lat);
  const found: { id: number; distance: number }[] = [];
  for (let row = 0; row < count; row++) {
    if (geodesic(lon, lat, coords[2 * row]!, coords[2 * row + 1]!) > radius) continue;
    found.push({ id: byId.keys[byId.ranks[row]!]!, distance: centre.to(coords, row) });
  }
  found.sort((a, b) => a.distance - b.distance || a.id - b.id);
  return found.map(({ id }) => id);
}

for (const { name, circles, make } of HOSTILE_DATA) {
  test(`${name}: nearest first, ties by id, whichever way and on any page`, async () => {
    const dataset = await hostileDataset(make(POINTS));
    const engine = createEngine(dataset);
    for (const circle of circles) {
      const expected = sortedIds(dataset, circle);
      const pageSize = 997;
      const pages = Math.max(1, Math.ceil(expected.length / pageSize));
      for (const page of [1, (pages + 1) >> 1, pages]) {
        for (const hints of [{}, { accessPath: 'walk' }, { accessPath: 'select' }] as const) {
          const query = { filters: { circle }, ordering: 'distance', page, pageSize } as const;
          const answer = engine.run(query, hints)!;
          const label = `${name}, ${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
          assert.is(answer.count, expected.length, label);
          const ids = idsOf(dataset, answer.rows, answer.length);
          assert.equal(ids, expected.slice((page - 1) * pageSize, page * pageSize), label);
        }
      }
    }
  });
}

test('pages anywhere among many matches, whatever the filters beside the circle', async () => {
  const notes: Note[] = [];
  const random = new Random(NEAREST_SEED, 'point');
  for (let id = 1; id <= SPREAD; id++) {
    const lat = (Math.asin(random.between(-1, 1)) * 180) / Math.PI;
    const [created, modified] = [NOON + random.int(1_000), NOON + random.int(1_000)];
    notes.push({ id, lon: random.between(-180, 180), lat, created, modified });
  }
  const { dataset, run } = await engineOf(notes);
  const circle = { lat: 60, lon: 25, radius: 3e7 };
  const createdAt = { after: NOON, before: NOON + 800 };
  const boxes = [{ west: -150, south: -80, east: 150, north: 80 }];
  const [box] = boxes as [Box];
  const byId = new Map(notes.map((note) => [note.id, note]));
  const sorted = sortedIds(dataset, circle);
  const isAsked = ({ boxes: any, createdAt: window }: Filters, id: number): boolean => {
    const { lon, lat, created } = byId.get(id)!;
    if (window !== undefined && created > window.before) return false;
    if (any === undefined) return true;
    return lon >= box.west && lon <= box.east && lat >= box.south && lat <= box.north;
  };
  const asked: readonly [Filters, Hints][] = [
    [{ circle }, {}],
    [{ circle, createdAt }, {}],
    // the rows of a window come in the order of time
    [{ circle, createdAt }, { driver: 'createdAt' }],
    [{ circle, boxes }, {}],
    [{ circle, boxes, createdAt }, {}],
  ];
  for (const [filters, hints] of asked) {
    const expected = sorted.filter((id) => isAsked(filters, id));
    for (const depth of [0, 0.1, 0.5, 0.9, 1]) {
      const page = 1 + Math.floor(depth * (Math.ceil(expected.length / 100) - 1));
      const query = { filters, ordering: 'distance', page, pageSize: 100 } as const;
      const { rows, length } = run(query, { ...hints, accessPath: 'select' })!;
      const label = `${JSON.stringify(query)}, ${JSON.stringify(hints)}`;
      assert.equal(
        idsOf(dataset, rows, length),
        expected.slice(100 * page - 100, 100 * page),
        label,
      );
    }
  }
});

test('many matches that are as good as equally far away are charged for', async () => {
  const { make, circles } = HOSTILE_DATA.find(({ name }) => name === 'one parallel')!;
  const dataset = await hostileDataset(make(POINTS));
  const circle = circles[0]!;
  const engine = createEngine(dataset);
  const query = { filters: { circle }, ordering: 'distance', page: 3, pageSize: 100 } as const;
  assert.throws(
    () => engine.run(query, {}, undefined, new Budget(10_000)),
    (error: unknown) => error === EXCEEDED,
  );
  const answer = engine.run(query)!;
  assert.equal(idsOf(dataset, answer.rows, 100), sortedIds(dataset, circle).slice(200, 300));
});

test('one point apart from a pile is found, wherever in the pile it stands', async () => {
  const circle = { lon: 9, lat: 20, radius: 1e6 };
  for (const apart of [1, 500, 1_000, 1_500]) {
    const notes: Note[] = [];
    for (let id = 1; id <= 1_500; id++) {
      // by the least there is, to the left: it comes into a block with those of the pile
      const lon = id === apart ? 9.99999999 : 10;
      notes.push({ id, lon, lat: 20, created: NOON, modified: NOON });
    }
    const engine = await engineOf(notes);
    const query = { filters: { circle }, ordering: 'distance', page: 1, pageSize: 2 } as const;
    for (const hints of [{}, { accessPath: 'walk' }, { accessPath: 'select' }] as const) {
      const answer = engine.run(query, hints)!;
      const ids = idsOf(engine.dataset, answer.rows, answer.length);
      assert.equal(ids, [apart, apart === 1 ? 2 : 1], `${apart}, ${JSON.stringify(hints)}`);
    }
  }
});

test('a place by another name is as far away: ids decide', async () => {
  const notes: Note[] = [];
  for (let id = 1; id <= 3_000; id++) {
    const lon = [180, -180][(id * 7) % 2]!;
    const [at, lat] = id % 3 === 0 ? [id % 181, 90] : [lon, 10];
    notes.push({ id, lon: at, lat, created: NOON, modified: NOON });
  }
  const engine = await engineOf(notes);
  for (const lon of [180, -180, 10, -33.33, 179.99]) {
    for (const accessPath of ['walk', 'select'] as const) {
      // whichever of the two places is nearer, the pole's thousand have a page of their own
      for (const page of [1, 3]) {
        const circle = { lat: 23.45, lon, radius: 3e7 };
        const query = { filters: { circle }, ordering: 'distance', page, pageSize: 1000 } as const;
        const answer = engine.run(query, { accessPath })!;
        const ids = idsOf(engine.dataset, answer.rows, answer.length);
        const sorted = [...ids].sort((a, b) => a - b);
        assert.equal(ids, sorted, `${lon}, ${accessPath}, page ${page}`);
      }
    }
  }
});

test.run();
