import * as fc from 'fast-check';
import { Random } from '../../../src/cli/generate/random.js';
import { parseBbox, parsePolygon } from '../../../src/http/request/filters.js';
import type { Box } from '../../../src/model/query.js';
import { forAll } from '../../support/properties.js';
import { assert, table, test } from '../../support/uvu.js';

/** [west, east] of each box between two longitudes. */
function spans(left: number | string, right: number | string): [number, number][] {
  const boxes = parseBbox(`${left},-10,${right},10`);
  assert.ok(Array.isArray(boxes), `${left} to ${right}`);
  return (boxes as readonly Box[]).map(({ west, south, east, north }) => {
    assert.equal([south, north], [-10, 10]);
    return [west, east];
  });
}

/** Each case: left, right, and the spans of the boxes. */
const CASES: Readonly<Record<string, string>> = {
  // other edges are compared with an oracle below
  'edges at ±180 stay as they are': `
    -180 180 -180..180 | 170 180  170..180            | -180 -170           -180..-170
    180  180 180..180  | 180 -180 180..180 -180..-180 | -180 179.9999999999 -180..179.9999999999
    -0   0   0..0`,
  'an edge many times round the world': '3600000000190 3600000000200 -170..-160',
  'a wrapped edge has the digits that were meant': `
    189.1 190.1 -170.9..-169.9 | -200.3 -190.7 159.7..169.3
    204.95000001 205.12345678 -155.04999999..-154.87654322`,
  'a wrapped edge on the antimeridian takes both of its numbers in': `
    540 540 180..180 -180..-180 | -540 -540 180..180 -180..-180 | 180 190 180..180 -180..-170
    540 550 180..180 -180..-170 | 530 540 170..180 -180..-180 | -190 -180 170..180 -180..-180`,
  // rounding to ten decimals must not make the fifth a line
  '360 degrees and more are the whole world': `
    -200 200 -180..180 | 0 360 -180..180 | -190.1 169.9 -180..180 | -1e308 1e308 -180..180
    0 359.99999999999 -180..180 | 0 359.9999999 0..180 -180..-1e-7`,
};

for (const [name, cases] of Object.entries(CASES)) {
  test(name, () => {
    for (const [left, right, ...expected] of table(cases)) {
      const found = spans(left!, right!).map((span) => span.join('..'));
      assert.equal(found, expected, `${left} to ${right}`);
    }
  });
}

test('latitudes: any, but bottom not above top', () => {
  assert.equal(parseBbox('0,-100,1,100'), [{ west: 0, south: -100, east: 1, north: 100 }]);
  assert.equal(parseBbox('1,2,1,2'), [{ west: 1, south: 2, east: 1, north: 2 }]);
  assert.match(parseBbox('0,2,1,1') as string, 'bottom');
});

// integer micro-degrees, so that the oracle is exact
const TURN = 360_000_000;
const HALF = TURN / 2;
const edge = fc.oneof(
  fc.integer({ min: -900_000_000, max: 900_000_000 }),
  fc.constantFrom(-3, -2, -1, 0, 1, 2, 3, 4, 5).map((halves) => halves * HALF),
  fc.constantFrom(-HALF - 1, -HALF + 1, HALF - 1, HALF + 1, TURN - 1, TURN + 1),
);

function modulo(units: number): number {
  return ((units % TURN) + TURN) % TURN;
}

/** Width of a box, eastwards from its left edge. */
function spanOf(left: number, right: number): number {
  return left <= right ? right - left : modulo(right - left);
}

test('a point is inside if its meridian lies in the span, however it is numbered', () => {
  const point = fc.oneof(
    fc.record({ at: fc.integer({ min: -HALF, max: HALF }) }),
    fc.record({ beside: fc.constantFrom('left', 'right'), by: fc.integer({ min: -1, max: 1 }) }),
    fc.record({ at: fc.constantFrom(-HALF, HALF) }),
  );
  forAll(20_000, [edge, edge, point], (left, right, place) => {
    let lon: number;
    if ('at' in place) lon = place.at;
    else lon = modulo((place.beside === 'left' ? left : right) + place.by + HALF) - HALF;
    // edges given as ±180 keep their sign: tested above
    fc.pre(Math.abs(lon) !== HALF || (Math.abs(left) !== HALF && Math.abs(right) !== HALF));
    const isIn = spans(left / 1e6, right / 1e6).some(
      ([west, east]) => lon / 1e6 >= west && lon / 1e6 <= east,
    );
    assert.is(isIn, modulo(lon - left) <= spanOf(left, right), `${left} ${right} ${lon}`);
  });
});

test('boxes lie within ±180, are no wider than the span, and never overlap', () => {
  forAll(5000, [edge, edge], (left, right) => {
    const found = spans(left / 1e6, right / 1e6);
    for (const [west, east] of found) assert.ok(-180 <= west && west <= east && east <= 180);
    if (found.length === 2) assert.ok(found[1]![1] < found[0]![0]);
    const width = found.reduce((sum, [west, east]) => sum + east - west, 0);
    assert.ok(Math.abs(width - Math.min(360, spanOf(left, right) / 1e6)) < 1e-9);
  });
});

function rings(text: string): number[][] {
  const polygon = parsePolygon(text);
  if (typeof polygon === 'string') throw new Error(polygon);
  return polygon.rings.map((ring) => Array.from(ring, (at) => at / 1e8));
}

test('places are read in pairs, rounded like points, in closed and open rings', () => {
  assert.equal(rings('1,2;3,4;5,-6'), [[1, 2, 3, 4, 5, -6]]);
  assert.equal(rings(' 1 , 2 ; 3,4; 5e0,-.6e1'), [[1, 2, 3, 4, 5, -6]]);
  assert.equal(rings('0,0;1,0;1,1;0,0'), [[0, 0, 1, 0, 1, 1]]);
  assert.equal(rings('0.123456784,0;0.123456786,0;0,1'), [[0.12345678, 0, 0.12345679, 0, 0, 1]]);
  assert.equal(rings('0,0;9,0;9,9;0,9|1,1;2,1;2,2|3,3;4,3;4,4'), [
    [0, 0, 9, 0, 9, 9, 0, 9],
    [1, 1, 2, 1, 2, 2],
    [3, 3, 4, 3, 4, 4],
  ]);
});

test('a closed ring is the same as an open one, wherever on the world its places are', () => {
  const random = new Random(11, 'point');
  let refused = 0;
  for (let run = 0; run < 400; run++) {
    const places = Array.from(
      { length: 3 + random.int(5) },
      () => `${random.int(361) - 180},${random.int(181) - 90}`,
    );
    const open = parsePolygon(places.join(';'));
    assert.equal(parsePolygon([...places, places[0]].join(';')), open, places.join(';'));
    if (typeof open === 'string') refused += 1;
  }
  assert.ok(refused > 50 && refused < 350, String(refused));
  // an edge of 360 degrees stays one, wherever the ring begins
  const world = ['0,-9', '180,-9', '360,-9', '360,9', '0,9'];
  for (let first = 0; first < world.length; first++) {
    const places = [...world.slice(first), ...world.slice(0, first)];
    assert.is(rings(places.join(';')).length, 1, places.join(';'));
  }
});

test('a polygon across the antimeridian begins within ±180 and continues beyond', () => {
  const fiji = [[170, -20, 190, -20, 190, -10, 170, -10]];
  for (const text of [
    '170,-20;-170,-20;-170,-10;170,-10',
    '170,-20;190,-20;190,-10;170,-10',
    '-190,-20;-170,-20;-170,-10;-190,-10',
    '530,-20;550,-20;-170,-10;530,-10',
  ]) {
    assert.equal(rings(text), fiji, text);
    assert.ok((parsePolygon(text) as { crosses: boolean }).crosses);
  }
  // one that comes the short way to ±180 has both signs of it, wherever it begins
  const touching = ['-170,0', '180,0', '180,9', '-170,9'];
  for (const places of [touching, touching.toReversed()]) {
    for (let first = 0; first < 4; first++) {
      const text = [...places.slice(first), ...places.slice(0, first)].join(';');
      assert.ok((parsePolygon(text) as { crosses: boolean }).crosses, text);
      assert.equal(
        rings(text)[0]!
          .filter((_, i) => i % 2 === 0)
          .sort(),
        [180, 180, 190, 190],
        text,
      );
    }
  }
  // edges at ±180 keep their sign: nothing lies beyond them
  assert.equal(rings('-180,0;180,0;180,90;-180,90'), [[-180, 0, 180, 0, 180, 90, -180, 90]]);
  assert.not((parsePolygon('170,0;180,0;180,9') as { crosses: boolean }).crosses);
  assert.equal(rings('180,0;190,0;190,9'), [[180, 0, 190, 0, 190, 9]]);
  assert.equal(rings('-190,0;-180,0;-180,9'), [[170, 0, 180, 0, 180, 9]]);
  // a hole is shifted to its ring; a hole across the edge of a whole world comes twice
  assert.equal(rings('170,0;190,0;190,9|-175,1;-174,1;-174,2')[1], [185, 1, 186, 1, 186, 2]);
  assert.equal(rings('0,-9;360,-9;360,9;0,9|-1,0;1,0;1,1').slice(1), [
    [359, 0, 361, 0, 361, 1],
    [-1, 0, 1, 0, 1, 1],
  ]);
});

test('the error of a bad polygon has the number of the place', () => {
  const many = (count: number): string => Array.from({ length: count }, () => '1,2').join(';');
  for (const [text, reason] of [
    ['1,2', 'the ring has one place'],
    ['1,2;3,4', 'the ring has 2 places'],
    ['1,2;3,4;', 'place 3 is empty'],
    ['1,2;3,4;5', 'place 3 needs two numbers, has 1'],
    ['1,2;3,4,5;5,6', 'place 2 needs two numbers, has more'],
    ['1,2;x,4;5,6', 'lon of place 2 is no finite decimal number'],
    ['1,2;3,NaN;5,6', 'lat of place 2 is no finite decimal number'],
    ['1,2;3,91;5,6', 'lat of place 2, which comes second, is beyond ±90'],
    ['1,2;3601,4;5,6', 'lon of place 2 is beyond ±3600'],
    ['1,2;3,4;5,6|', 'hole 1 has no place'],
    ['1,2;3,4;5,6|1,2;3,4', 'hole 1 has 2 places'],
    ['1,2;3,4;5,6|1,2;3,4;5,6|1,2;3,4;5,-91', 'lat of place 3 of hole 2, which comes second,'],
    [many(1_001), 'has more than 1000 places'],
    [`${many(500)}|${many(501)}`, 'has more than 1000 places'],
    [
      '0,60;120,60;-120,60',
      'the ring goes round a pole; ask for a box, such as bbox=-180,60,180,90',
    ],
    ['0,60;90,61;180,60;-90,60;0,60', 'the ring goes round a pole'],
    ['9,-60;120,-70;-120,-60.5;9,-60', 'the ring goes round a pole'],
    ['0,0;9,0;9,9|0,60;120,60;-120,60;0,60', 'hole 1 goes round a pole'],
    ['0,0;9,0;9,9|0,60;120,60;-120,60', 'hole 1 goes round a pole'],
    ...['0,60', '120,60', '-120,60', '0,50'].map((_, first, places) => {
      const text = [...places.slice(first), ...places.slice(0, first)].join(';');
      return [text, 'the ring goes round a pole'] as const;
    }),
    ['0,0;120,0;240,0;361,0;240,1;120,1', 'the ring spans more than 360 degrees'],
  ] as const) {
    const polygon = parsePolygon(text);
    assert.type(polygon, 'string', text);
    assert.ok((polygon as string).startsWith(reason), `${text.slice(0, 60)}: ${polygon}`);
  }
  assert.type(parsePolygon(many(1_000)), 'object');
  assert.type(parsePolygon('-180,60;0,60;180,60;180,90;-180,90'), 'object', 'as the error says');
});

test.run();
