import {
  chooseAccessPath,
  chooseDriver,
  chooseNearestPath,
  type Facts,
} from '../../../src/query/common/plan.js';
import { assert, test } from '../../support/uvu.js';

const MILLION = 1_000_000;

function driver(facts: Partial<Facts>): string {
  const none = {
    inRegion: false,
    region: undefined,
    createdAt: undefined,
    modifiedAt: undefined,
    cellRows: undefined,
  };
  return chooseDriver({ total: MILLION, ...none, ...facts });
}

test('the filter that lets far fewer rows through is gone through', () => {
  assert.is(driver({ inRegion: true, region: 100, createdAt: 500_000 }), 'region');
  assert.is(driver({ inRegion: true, region: 500_000, createdAt: 100 }), 'createdAt');
  assert.is(driver({ inRegion: true, region: 500_000, modifiedAt: 100 }), 'modifiedAt');
  assert.is(driver({ createdAt: 100, modifiedAt: 500_000 }), 'createdAt');
  assert.is(driver({ createdAt: 500_000, modifiedAt: 100 }), 'modifiedAt');
  const all = { inRegion: true, region: 300, createdAt: 200_000, modifiedAt: 100_000 };
  assert.is(driver(all), 'region');
  assert.is(driver({ ...all, modifiedAt: 3 }), 'modifiedAt');
});

test('a filter without matches wins over every other', () => {
  assert.is(driver({ inRegion: true, region: 0, createdAt: 10, modifiedAt: 10 }), 'region');
  assert.is(driver({ inRegion: true, region: 10, createdAt: 0, modifiedAt: 10 }), 'createdAt');
  assert.is(driver({ createdAt: MILLION, modifiedAt: 0 }), 'modifiedAt');
});

test('rows in memory order beat scattered ones when hardly any row is left out', () => {
  assert.is(driver({ createdAt: 990_000, modifiedAt: 990_000 }), 'all');
  const wide = { inRegion: true, region: 990_000, createdAt: 990_000, modifiedAt: 990_000 };
  assert.is(driver(wide), 'region');
});

test('a region that was not looked for is never gone through', () => {
  assert.is(driver({ inRegion: true, region: undefined, createdAt: 5 }), 'createdAt');
  assert.is.not(driver({ inRegion: true, region: undefined, createdAt: MILLION }), 'region');
});

test('an empty dataset can be planned for', () => {
  const facts = {
    total: 0,
    inRegion: true,
    region: 0,
    createdAt: 0,
    modifiedAt: 0,
    cellRows: undefined,
  };
  assert.ok(['all', 'region', 'createdAt', 'modifiedAt'].includes(driver(facts)));
});

test('first pages of many matches are walked to, pages of few matches are selected', () => {
  for (const form of ['runs', 'windows', 'rows'] as const) {
    // rows in a list are told by bits alone
    const walk = form === 'rows' ? 'mark' : 'walk';
    assert.is(chooseAccessPath(100, MILLION, MILLION, form).accessPath, walk);
    assert.is(chooseAccessPath(100, 500_000, MILLION, form).accessPath, walk);
    assert.is(chooseAccessPath(100, 100, MILLION, form).accessPath, 'select');
    assert.is(chooseAccessPath(1, 1, MILLION, form).accessPath, 'select');
  }
});

test('deep pages are walked to by bits, and selected once that passes most of the order', () => {
  for (const form of ['runs', 'windows'] as const) {
    assert.is(chooseAccessPath(100, 50_000, MILLION, form).accessPath, 'walk');
    assert.is(chooseAccessPath(450_000, 900_000, MILLION, form).accessPath, 'mark');
    assert.is(chooseAccessPath(25_000, 50_000, MILLION, form).accessPath, 'select');
  }
  // all of these could lie at the order's far end
  assert.is(chooseAccessPath(100, 10_000, MILLION, 'rows').accessPath, 'select');
  assert.is(chooseAccessPath(100, 300_000, MILLION, 'rows').accessPath, 'mark');
});

test('a walk may pass some times the rows that are expected, but none that cost more than another way', () => {
  assert.is(chooseAccessPath(1, MILLION, MILLION, 'windows').most, 1_008);
  const { accessPath, most } = chooseAccessPath(100, 10_000, MILLION, 'windows');
  assert.is(accessPath, 'walk');
  assert.ok(most > 10_000 && most < 20_000, String(most));
});

test('after a walk that was given up, the way is chosen as if all matches were at the far end', () => {
  for (const form of ['runs', 'windows'] as const) {
    const walked = { hasWalked: true, marking: 30_000 };
    assert.equal(chooseAccessPath(100, 500_000, MILLION, form), {
      accessPath: 'walk',
      most: 2_600,
    });
    assert.equal(chooseAccessPath(100, 500_000, MILLION, form, walked), {
      accessPath: 'mark',
      most: 0,
    });
    assert.is(
      chooseAccessPath(100, 10_000, MILLION, form, { hasWalked: true }).accessPath,
      'select',
    );
  }
  const cells = { cellRows: 2_048, hasWalked: true };
  assert.is(chooseAccessPath(100, 500_000, MILLION, 'windows', cells).accessPath, 'cells');
});

test('the first page of many bits is walked to, on trial where they may lie at the far end', () => {
  assert.equal(chooseAccessPath(100, 90_000, MILLION, 'bits', { marking: 0, listing: 200_000 }), {
    accessPath: 'walk',
    most: 9_896,
  });
  const walked = { marking: 0, listing: 200_000, hasWalked: true };
  assert.is(chooseAccessPath(100, 90_000, MILLION, 'bits', walked).accessPath, 'select');
  assert.is(chooseAccessPath(100, 800_000, MILLION, 'bits', { marking: 0 }).accessPath, 'mark');
});

test('deep pages of a window are found by cells', () => {
  const cells = { cellRows: 2_048, length: 100 };
  assert.is(chooseAccessPath(250_000, 500_000, MILLION, 'windows', cells).accessPath, 'cells');
  assert.is(chooseAccessPath(100, 500_000, MILLION, 'windows', cells).accessPath, 'walk');
});

test('the further the page, the less a walk is worth: the choice goes one way only', () => {
  for (const count of [10, 1_000, 30_000, 400_000]) {
    for (const choose of [
      (end: number) => chooseAccessPath(end, count, MILLION, 'runs').accessPath,
      (end: number) => chooseAccessPath(end, count, MILLION, 'windows').accessPath,
      (end: number) => chooseAccessPath(end, count, MILLION, 'rows').accessPath,
      (end: number) => chooseNearestPath(end, count),
    ]) {
      const ends = Array.from({ length: 20 }, (_, i) => Math.ceil(((i + 1) * count) / 20));
      const steps = ends.map((end) => ['walk', 'mark', 'select'].indexOf(choose(end)));
      assert.equal(steps, steps.toSorted(), `${count} matches`);
    }
  }
});

test('the nearest few of many are searched outwards, the rest measured', () => {
  assert.is(chooseNearestPath(100, 100_000), 'walk');
  assert.is(chooseNearestPath(100, 100), 'select');
  assert.is(chooseNearestPath(100, 1_000), 'select');
  assert.is(chooseNearestPath(100, 2_000), 'walk');
  assert.is(chooseNearestPath(90_000, 100_000), 'select');
  assert.is(chooseNearestPath(20_000, 100_000), 'select');
  assert.is(chooseNearestPath(240_000, MILLION), 'select');
  assert.is(chooseNearestPath(2_000, MILLION), 'walk');
  assert.is(chooseNearestPath(5_000, MILLION), 'select');
  // a search outwards cannot pause, however many there are
  assert.is(chooseNearestPath(2_000, 10 * MILLION), 'walk');
  assert.is(chooseNearestPath(5_000, 10 * MILLION), 'select');
});

test.run();
