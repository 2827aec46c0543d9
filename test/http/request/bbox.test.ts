import * as fc from 'fast-check';
import { parseBbox } from '../../../src/http/request/filters.js';
import type { Box } from '../../../src/model/query.js';
import { rounds } from '../../support/soak.js';
import { assert, test } from '../../support/uvu.js';

/** [west, east] of each box, which all have the latitudes given. */
function spans(left: number | string, right: number | string): [number, number][] {
  const boxes = parseBbox(`${left},-10,${right},10`);
  assert.ok(Array.isArray(boxes), `${left} to ${right}`);
  return (boxes as readonly Box[]).map(({ west, south, east, north }) => {
    assert.equal([south, north], [-10, 10]);
    return [west, east];
  });
}

/** Each case: left, right, and what they span. */
const CASES: Readonly<Record<string, readonly (readonly [string, string, string])[]>> = {
  'edges within ±180 stay as they are': [
    ['24.9', '25', '24.9..25'],
    ['-180', '180', '-180..180'],
    ['170', '180', '170..180'],
    ['-180', '-170', '-180..-170'],
    ['180', '180', '180..180'],
    ['-180', '179.99999999', '-180..179.99999999'],
    ['-180', '179.9999999999', '-180..179.9999999999'],
    ['-0', '0', '0..0'],
  ],
  'left greater than right crosses the antimeridian': [
    ['179', '-179', '179..180 -180..-179'],
    ['24.96', '24.95', '24.96..180 -180..24.95'],
    ['180', '-180', '180..180 -180..-180'],
  ],
  'an edge beyond ±180 wraps': [
    ['170', '190', '170..180 -180..-170'],
    ['-190', '-170', '170..180 -180..-170'],
    ['185', '190', '-175..-170'],
    ['385', '390', '25..30'],
    ['-335', '-330', '25..30'],
    ['360', '370', '0..10'],
    ['200', '100', '-160..100'],
    ['3600000000190', '3600000000200', '-170..-160'],
  ],
  'a wrapped edge has the digits that were meant': [
    ['189.1', '190.1', '-170.9..-169.9'],
    ['-200.3', '-190.7', '159.7..169.3'],
    ['204.95000001', '205.12345678', '-155.04999999..-154.87654322'],
  ],
  'a wrapped edge on the antimeridian takes both of its numbers in': [
    ['540', '540', '180..180 -180..-180'],
    ['-540', '-540', '180..180 -180..-180'],
    ['180', '190', '180..180 -180..-170'],
    ['540', '550', '180..180 -180..-170'],
    ['530', '540', '170..180 -180..-180'],
    ['-190', '-180', '170..180 -180..-180'],
  ],
  '360 degrees and more are the whole world': [
    ['-200', '200', '-180..180'],
    ['0', '360', '-180..180'],
    ['-190.1', '169.9', '-180..180'],
    ['-1e308', '1e308', '-180..180'],
    // rounding to ten decimals must not fold it up into a line
    ['0', '359.99999999999', '-180..180'],
    ['0', '359.9999999', '0..180 -180..-1e-7'],
  ],
};

for (const [name, cases] of Object.entries(CASES)) {
  test(name, () => {
    for (const [left, right, expected] of cases) {
      const found = spans(left, right).map((span) => span.join('..'));
      assert.is(found.join(' '), expected, `${left} to ${right}`);
    }
  });
}

test('latitudes: any, but bottom not above top', () => {
  assert.equal(parseBbox('0,-100,1,100'), [{ west: 0, south: -100, east: 1, north: 100 }]);
  assert.equal(parseBbox('1,2,1,2'), [{ west: 1, south: 2, east: 1, north: 2 }]);
  assert.match(parseBbox('0,2,1,1') as string, 'bottom');
});

test('four finite decimal numbers, spaces around them allowed', () => {
  assert.equal(parseBbox(' 1, +2 ,\t3e0 ,.4e1\n'), [{ west: 1, south: 2, east: 3, north: 4 }]);
  assert.equal(parseBbox('1.,2.5E+0,3,04'), [{ west: 1, south: 2.5, east: 3, north: 4 }]);
  const bad = ['', '1,2,3', '1,2,3,4,5', '1,2,3,', ',,,', 'a,b,c,d', '1;2;3;4', 'nan,nan,nan,nan'];
  const worse = [
    ...['0,0,inf,1', '0,0,Infinity,1', '1e400,0,1,1', '0x1,0,1,1', '1_0,0,1,1', '1 0,0,1,1'],
  ];
  const worst = ['--1,0,1,1', '.,0,1,1', '1e,0,1,1', 'e1,0,1,1', '१,0,1,1', '1.1.1,0,1,1'];
  for (const text of [...bad, ...worse, ...worst]) {
    assert.type(parseBbox(text), 'string', text);
  }
});

// whole micro-degrees, so that the oracle is exact
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

/** How far the box reaches eastwards from its left edge. */
function spanOf(left: number, right: number): number {
  return left <= right ? right - left : modulo(right - left);
}

test('a point is inside if its meridian lies in the span, whatever its number', () => {
  const point = fc.oneof(
    fc.record({ at: fc.integer({ min: -HALF, max: HALF }) }),
    fc.record({ beside: fc.constantFrom('left', 'right'), by: fc.integer({ min: -1, max: 1 }) }),
    fc.record({ at: fc.constantFrom(-HALF, HALF) }),
  );
  fc.assert(
    fc.property(edge, edge, point, (left, right, place) => {
      let lon: number;
      if ('at' in place) lon = place.at;
      else lon = modulo((place.beside === 'left' ? left : right) + place.by + HALF) - HALF;
      // edges that are ±180 to begin with are taken at their word: tested above
      fc.pre(Math.abs(lon) !== HALF || (Math.abs(left) !== HALF && Math.abs(right) !== HALF));
      const isIn = spans(left / 1e6, right / 1e6).some(
        ([west, east]) => lon / 1e6 >= west && lon / 1e6 <= east,
      );
      assert.is(isIn, modulo(lon - left) <= spanOf(left, right), `${left} ${right} ${lon}`);
    }),
    { numRuns: rounds(20_000) },
  );
});

test('boxes lie within ±180, are no wider than the span, and never overlap', () => {
  fc.assert(
    fc.property(edge, edge, (left, right) => {
      const found = spans(left / 1e6, right / 1e6);
      for (const [west, east] of found) assert.ok(-180 <= west && west <= east && east <= 180);
      if (found.length === 2) assert.ok(found[1]![1] < found[0]![0]);
      const width = found.reduce((sum, [west, east]) => sum + east - west, 0);
      assert.ok(Math.abs(width - Math.min(360, spanOf(left, right) / 1e6)) < 1e-9);
    }),
    { numRuns: rounds(5000) },
  );
});

test.run();
