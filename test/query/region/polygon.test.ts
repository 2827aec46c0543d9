import { Random } from '../../../src/cli/generate/random.js';
import { parsePolygon } from '../../../src/http/request/filters.js';
import type { Filters, Ordering, Polygon } from '../../../src/model/query.js';
import { bitOf } from '../../../src/query/common/marks.js';
import { markMatches } from '../../../src/query/common/matches.js';
import { Engine } from '../../../src/query/engine.js';
import { ACROSS } from '../../../src/query/region/overlap.js';
import { regionOf } from '../../../src/query/region/region.js';
import { acceptedMatches, deltaOf, engineOf, idsOf } from '../../support/engine.js';
import { hostileDataset } from '../../support/hostile-data.js';
import { type Note, scatterNotes } from '../../support/notes.js';
import { Oracle } from '../../support/oracle.js';
import {
  PlainPolygon,
  randomRings,
  textOfRings,
  type WrittenRing,
} from '../../support/plain-polygon.js';
import { COMBINATIONS, randomQuestion } from '../../support/queries.js';
import { assert, IS_SOAK, rounds, test } from '../../support/uvu.js';

function polygonOf(rings: readonly WrittenRing[]): Polygon {
  const polygon = parsePolygon(textOfRings(rings));
  if (typeof polygon === 'string') throw new Error(polygon);
  return polygon;
}

/** Points on the grid of the polygons' corners, each at least once, and points between these. */
async function gridEngine(seed: number, count: number): Promise<Engine> {
  const random = new Random(seed, 'point');
  const coords = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    const isCorner = i < 41 * 21;
    coords[2 * i] = isCorner ? (i % 41) * 9 - 180 : random.int(36_001) / 100 - 180;
    coords[2 * i + 1] = isCorner ? Math.floor(i / 41) * 9 - 90 : random.int(18_001) / 100 - 90;
  }
  return new Engine(await hostileDataset(coords));
}

function mark(engine: Engine, filters: Filters, marked: Uint8Array): void {
  const { dataset } = engine;
  engine.collect(filters, (matches, scratch) => {
    const bits = markMatches(dataset, scratch, matches);
    for (let row = 0; row < dataset.count; row++) marked[row] = bitOf(bits, row);
  });
}

/** Asks for random polygons and compares all that they hold, and single points in any order. */
function compare(engine: Engine, seed: number, polygons: number): void {
  const { coords, count } = engine.dataset;
  const hundredths = Int32Array.from(coords, (at) => Math.round(at * 100));
  const marked = new Uint8Array(count);
  for (let index = 0; index < polygons; index++) {
    const rings = randomRings(seed, index);
    const polygon = polygonOf(rings);
    const plain = new PlainPolygon(rings);
    const region = regionOf({ polygon })!;
    mark(engine, { polygon }, marked);
    for (let row = 0; row < count; row++) {
      const expected = plain.holds(hundredths[2 * row]!, hundredths[2 * row + 1]!);
      const isTested = row % 7 === index % 7;
      const isHeld = isTested ? region.contains(coords, row) : expected;
      if (marked[row] === +expected && isHeld === expected) continue;
      const found = `marked: ${marked[row]}, held: ${isHeld}, expected: ${expected}`;
      assert.unreachable(
        `seed ${seed}, polygon ${index}: ${textOfRings(rings)}: row ${row} ${found}`,
      );
    }
  }
}

test('random polygons hold what the plain test says', async () => {
  compare(await gridEngine(1, 900), 1, rounds(4_800));
  compare(await gridEngine(2, 9_000), 2, rounds(200));
});

test('a ring holds the same wherever it begins and whichever way it goes', () => {
  const places: number[] = [];
  for (let lon = -180; lon <= 180; lon += 10) {
    for (let lat = -90; lat <= 90; lat += 10) places.push(lon, lat);
  }
  const coords = Float64Array.from(places);
  const heldBy = (ring: readonly string[]): string => {
    const polygon = parsePolygon(ring.join(';'));
    if (typeof polygon === 'string') return polygon;
    const region = regionOf({ polygon })!;
    return Array.from({ length: coords.length / 2 }, (_, row) =>
      region.contains(coords, row) ? '#' : '.',
    ).join('');
  };
  const random = new Random(5, 'point');
  const seen = { refused: 0, across: 0 };
  for (let i = 0; i < rounds(5_000); i++) {
    // wide steps, so that many edges have 180 or 360 degrees and many places lie at ±180
    const step = random.pick([10, 30, 60, 90]);
    const ring = Array.from({ length: 3 + random.int(5) }, () => {
      const [lon, lat] = [random.int(360 / step + 1), random.int(180 / step + 1)];
      return `${lon * step - 180},${lat * step - 90}`;
    });
    const held = heldBy(ring);
    if (held.includes('ring')) seen.refused++;
    else if ((parsePolygon(ring.join(';')) as Polygon).crosses) seen.across++;
    for (const way of [ring, ring.toReversed()]) {
      for (let first = 0; first < ring.length; first++) {
        const turned = [...way.slice(first), ...way.slice(0, first)];
        assert.is(heldBy(turned), held, `${ring.join(';')} as ${turned.join(';')}`);
      }
    }
  }
  assert.ok(seen.refused > 100 && seen.across > 100, JSON.stringify(seen));
});

test('a place on a long edge is inside, and one next to it is not, to the last decimal', () => {
  // the edge leads through a place every 7 × 3 units, from one end of the world to the other
  const steps = 2_571_428_570;
  const text = (x: number, y: number): string => `${x / 1e8},${y / 1e8}`;
  const [west, south] = [-9_000_000_001, -4_000_000_003];
  const end = text(west + 7 * steps, south + 3 * steps);
  const polygon = parsePolygon(`${text(west, south)};${end};${text(west + 7 * steps, south)}`);
  assert.type(polygon, 'object');
  const region = regionOf({ polygon: polygon as Polygon })!;
  const random = new Random(3, 'point');
  for (let i = 0; i < rounds(2_000); i++) {
    const step = i < 2 ? i * steps : random.int(steps);
    const [x, y] = [west + 7 * step, south + 3 * step];
    const places = [x, y, x, y + 1, x - 1, y, x, y - 1, x + 1, y, x + 7, y + 3];
    const coords = Float64Array.from(places, (at) => at / 1e8);
    const held = Array.from({ length: 5 }, (_, row) => region.contains(coords, row));
    const isEnd = step === 0 || step === steps;
    if (isEnd) assert.ok(held[0], `end ${i}`);
    else assert.equal(held, [true, false, false, true, true], `step ${step}`);
  }
});

test('many points at one place are tested once, and edges far from a block not at all', () => {
  const places = Array.from({ length: 1_000 }, (_, i) => {
    const angle = (i / 500) * Math.PI;
    const far = i % 2 === 0 ? 10 : 8;
    return `${far * Math.cos(angle)},${far * Math.sin(angle)}`;
  });
  const polygon = parsePolygon(places.join(';')) as Polygon;
  const region = regionOf({ polygon })!;
  // a block that a few edges cross
  const box = Float64Array.of(8.9, 0.02, 8.91, 0.03);
  const coords = Float64Array.from({ length: 128 }, (_, i) =>
    i % 2 === 0 ? 8.9 + i / 12_800 : 0.02 + i / 12_800,
  );
  assert.is(region.overlap(box, 0), ACROSS);
  const looked = region.work();
  region.collect(coords, 0, 64, box, 0, new Int32Array(128), 0);
  assert.ok(region.work() - looked <= 64 * 8 * 8, `${region.work() - looked} ns`);
  const pile = Float64Array.of(9.5, 0.01, 9.5, 0.01);
  assert.is.not(region.overlap(pile, 0), ACROSS);
});

test('each test of a single point counts the edges that it looks at', () => {
  // a comb whose teeth all cross the cell of the point
  const teeth = Array.from({ length: 400 }, (_, i): [number, number] => [100 * (i % 2), 1_000 + i]);
  const polygon = polygonOf([[...teeth, [300, 1_400], [300, 1_000]]]);
  const region = regionOf({ polygon })!;
  const coords = Float64Array.of(0.5, 12.003);
  region.contains(coords, 0);
  const before = region.work();
  for (let i = 0; i < 100; i++) region.contains(coords, 0);
  const each = (region.work() - before) / 100;
  assert.ok(each >= 8, `${each} ns`);
});

const SEED = 21;
const SERVED = 9_000;
const notes = scatterNotes(SEED, 9_600);
const engine = await engineOf(notes.slice(0, SERVED));
const delta = deltaOf(notes.slice(SERVED));
const oracle = new Oracle(notes);

/** A polygon of twelve places around a note, every other one as near as `shape` says. */
function around({ lon, lat }: Note, size: number, shape: number): WrittenRing[] {
  const ring = Array.from({ length: 12 }, (_, i) => {
    const far = i % 2 === 0 ? size : size * shape;
    const angle = (i / 6) * Math.PI;
    const x = Math.round(lon * 100 + far * Math.cos(angle));
    const y = Math.round(lat * 100 + far * Math.sin(angle));
    return [x, Math.max(-9_000, Math.min(9_000, y))] as const;
  });
  return [ring];
}

function allIds(filters: Filters, ordering: Ordering): number[] {
  const accepted = acceptedMatches(delta, notes.length - SERVED, filters);
  const ids: number[] = [];
  for (let page = 1, pageCount = 1; page <= pageCount; page++) {
    const answer = engine.run({ filters, ordering, page, pageSize: 1000 }, {}, accepted)!;
    ids.push(...idsOf(engine.dataset, answer.rows, answer.length, answer.delta));
    pageCount = answer.pageCount;
    assert.ok(answer.count <= notes.length && answer.count >= ids.length);
  }
  return ids;
}

test('a polygon goes together with every other filter and order, and with accepted points', () => {
  let found = 0;
  for (let index = 0; index < (IS_SOAK ? 2 : 1) * COMBINATIONS; index++) {
    const { filters: others, ordering } = randomQuestion(SEED, index, notes);
    const size = 10 ** ((index % 9) / 2);
    const rings =
      index % 3 === 0
        ? randomRings(SEED, index)
        : around(notes[(index * 37) % notes.length]!, size, index % 2 === 0 ? 1 : 0.3);
    const filters = { ...others, polygon: parsePolygon(textOfRings(rings)) as Polygon };
    const plain = new PlainPolygon(rings);
    const expected = oracle
      .find(others, ordering)
      .notes.filter(({ lon, lat }) => plain.holds(lon * 100, lat * 100))
      .map(({ id }) => id);
    const ids = allIds(filters, ordering);
    // equal distances but for rounding may change places
    if (ordering === 'distance') for (const list of [ids, expected]) list.sort((a, b) => a - b);
    assert.equal(ids, expected, `seed ${SEED}, question ${index}: ${textOfRings(rings)}`);
    found += ids.length;
  }
  assert.ok(found > (IS_SOAK ? 5_000 : 2_500), `${found} found`);
});

test.run();
