import { Random } from '../../../src/cli/generate/random.js';
import {
  FILTER_PARAMETERS,
  parseFilters,
  parsePolygon,
} from '../../../src/http/request/filters.js';
import { ParameterReader } from '../../../src/http/request/parameter.js';
import { UTC } from '../../../src/model/time-zone.js';
import { assert, test } from '../../support/uvu.js';

/** The rings in degrees. */
function rings(text: string): number[][] {
  const polygon = parsePolygon(text);
  if (typeof polygon === 'string') throw new Error(polygon);
  return polygon.rings.map((ring) => Array.from(ring, (at) => at / 1e8));
}

test('places are read in pairs, rounded to the decimals of points, and closed or not', () => {
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
  // the whole world has edges of 360 degrees, wherever its ring begins
  const world = ['0,-9', '180,-9', '360,-9', '360,9', '0,9'];
  for (let first = 0; first < world.length; first++) {
    const places = [...world.slice(first), ...world.slice(0, first)];
    assert.is(rings(places.join(';')).length, 1, places.join(';'));
  }
});

test('a polygon across the antimeridian begins within ±180 and goes on beyond', () => {
  const fiji = [[170, -20, 190, -20, 190, -10, 170, -10]];
  for (const text of [
    '170,-20;-170,-20;-170,-10;170,-10',
    '170,-20;190,-20;190,-10;170,-10',
    '-190,-20;-170,-20;-170,-10;-190,-10',
    '530,-20;550,-20;-170,-10;170,-10',
  ]) {
    assert.equal(rings(text), fiji, text);
    assert.ok((parsePolygon(text) as { crosses: boolean }).crosses);
  }
  // taken at its word: nothing is beyond ±180
  assert.equal(rings('-180,0;180,0;180,90;-180,90'), [[-180, 0, 180, 0, 180, 90, -180, 90]]);
  assert.not((parsePolygon('170,0;180,0;180,9') as { crosses: boolean }).crosses);
  assert.equal(rings('180,0;190,0;190,9'), [[180, 0, 190, 0, 190, 9]]);
  assert.equal(rings('-190,0;-180,0;-180,9'), [[170, 0, 180, 0, 180, 9]]);
  // a hole is moved to where the ring is, and what hangs over a whole world comes twice
  assert.equal(rings('170,0;190,0;190,9|-175,1;-174,1;-174,2')[1], [185, 1, 186, 1, 186, 2]);
  assert.equal(rings('0,-9;360,-9;360,9;0,9|-1,0;1,0;1,1').slice(1), [
    [359, 0, 361, 0, 361, 1],
    [-1, 0, 1, 0, 1, 1],
  ]);
});

test('what is no polygon is told with the number of the place', () => {
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
    [
      '0,60;90,61;180,60;-90,60;0,60',
      'the ring goes round a pole; ask for a box, such as bbox=-180,60,',
    ],
    [
      '9,-60;120,-70;-120,-60.5;9,-60',
      'the ring goes round a pole; ask for a box, such as bbox=-180,-90,180,-60',
    ],
    ['0,0;9,0;9,9|0,60;120,60;-120,60;0,60', 'hole 1 goes round a pole'],
    ['0,0;9,0;9,9|0,60;120,60;-120,60', 'hole 1 goes round a pole'],
    ['0,0;120,0;240,0;361,0;240,1;120,1', 'the ring spans more than 360 degrees'],
  ] as const) {
    const polygon = parsePolygon(text);
    assert.type(polygon, 'string', text);
    assert.ok((polygon as string).startsWith(reason), `${text.slice(0, 60)}: ${polygon}`);
  }
  assert.type(parsePolygon(many(1_000)), 'object');
  assert.type(parsePolygon('-180,60;0,60;180,60;180,90;-180,90'), 'object', 'as the error says');
});

test('a polygon is one of the filters', () => {
  const readerOf = (value: string): ParameterReader =>
    new ParameterReader([{ name: 'polygon', value }], FILTER_PARAMETERS);
  assert.is(parseFilters(readerOf('1,2;3,4;5,6'), UTC).polygon?.rings.length, 1);
  const none = readerOf('');
  assert.is(parseFilters(none, UTC).polygon, undefined);
  assert.equal(none.problems, []);
  const wrong = readerOf('1,2;3,4');
  parseFilters(wrong, UTC);
  const { problems } = wrong;
  assert.is(problems[0]!.parameter, 'polygon');
  assert.match(
    problems[0]!.text,
    /^Got "1,2;3,4": the ring has 2 places\. Expected .*three places/,
  );
});

test.run();
