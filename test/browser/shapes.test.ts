import { outlineOf, type ShapeName } from '../../src/browser/shapes.js';
import { assert, test } from '../support/uvu.js';

/** From where to where the rings of an outline reach, in whole degrees. */
function extents(name: ShapeName, text: string): number[][] {
  return outlineOf(name, text)!.map((ring) => {
    const lons = ring.map(([lon]) => lon);
    return [Math.round(Math.min(...lons)), Math.round(Math.max(...lons))];
  });
}

test('outlines lie where the filters do', () => {
  for (const [name, text, ...expected] of [
    ['bbox', '170,-10,-170,10', [170, 190]],
    ['bbox', '257,-12,-143,17', [257, 577]],
    // a hole is east of the ring's west end, wherever the ring begins
    [
      'polygon',
      '-100,-50;0,-50;120,-50;120,50;0,50;-100,50|90,0;110,0;110,9',
      [-100, 120],
      [90, 110],
    ],
    [
      'polygon',
      '120,-50;120,50;0,50;-100,50;-100,-50;0,-50|90,0;110,0;110,9',
      [-100, 120],
      [90, 110],
    ],
    ['polygon', '170,-20;-170,-20;-170,20;170,20|-175,0;-174,0;-174,9', [170, 190], [185, 186]],
    // an edge of 180 degrees goes straight, a longer one the other way round
    ['polygon', '90,-10;-90,-10;-90,20;90,20', [-90, 90]],
    ['polygon', '91,-10;-90,-10;-90,20;91,20', [91, 270]],
    ['coordinates', '0,179,200000', [177, 181]],
    // round a pole, and round both
    ['coordinates', '90,10,2500000', [10, 370]],
    ['coordinates', '-90,10,2500000', [10, 370]],
    ['coordinates', '10,24,12000000', [24, 384], [129, 279]],
  ] as const) {
    assert.equal(extents(name, text), expected, text);
  }
});

test.run();
