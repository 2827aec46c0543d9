import { readFileSync } from 'node:fs';
import { greatCircle } from '../../../bench/support/great-circle.js';
import { inventPoints } from '../../../src/cli/generate/notes.js';
import { CITIES, helsinkiOffset } from '../../../src/cli/generate/places.js';
import type { Point } from '../../../src/model/point.js';
import { openTimeZone } from '../../../src/model/time-zone.js';
import { printedBy } from '../../support/service.js';
import { assert, test } from '../../support/uvu.js';

const COUNT = 5000;
const point = inventPoints(1, COUNT);
const points = Array.from({ length: COUNT }, (_, index) => point(index));

test('the example queries of the interface find hundreds', () => {
  const near = points.filter((point) => metres(point, 60.166, 24.951) <= 1000);
  assert.ok(near.length >= 200, `${near.length} within a kilometre`);
  const region = points.filter((point) => metres(point, 60.166, 24.951) <= 15_000);
  between('in Helsinki', region, 0.13, 0.19);
});

test('the rest lies around cities all over the world, the largest first', () => {
  assert.ok(CITIES.length > 400);
  assert.ok(CITIES.every((city, i) => i === 0 || city[4] <= CITIES[i - 1]![4]));
  const near = (name: string) => {
    const [, , lat, lon] = CITIES.find((city) => city[0] === name)!;
    return points.filter((point) => metres(point, lat, lon) < 60_000).length;
  };
  for (const name of ['Shanghai', 'Mexico City', 'Lagos', 'Tampere']) {
    assert.ok(near(name) >= 10, `${near(name)} in ${name}`);
  }
  assert.ok(near('Shanghai') > near('Sofia'));
});

test('the city table is what its script prints', async () => {
  const printed = await printedBy('data/make-cities.js');
  assert.ok(printed === readFileSync('assets/cities.json', 'utf8'));
});

test('what careless code trips over is there', () => {
  const cases: Record<string, (point: Point) => boolean> = {
    'longitude 180': ({ lon }) => lon === '180.00000000',
    'longitude -180': ({ lon }) => lon === '-180.00000000',
    'latitude 90': ({ lat }) => lat === '90.00000000',
    'latitude -90': ({ lat }) => lat === '-90.00000000',
    'longitude 0': ({ lon, lat }) => lon === '0.00000000' && lat !== lon,
    'latitude 0': ({ lon, lat }) => lat === '0.00000000' && lat !== lon,
    'both 0': ({ lon, lat }) => lat === '0.00000000' && lat === lon,
    'just west of the antimeridian': ({ lon }) => Number(lon) > 179.5 && Number(lon) < 180,
    'just east of the antimeridian': ({ lon }) => Number(lon) < -179.5 && Number(lon) > -180,
    'near the north pole': ({ lat }) => Number(lat) > 89.98 && Number(lat) < 90,
    'near the south pole': ({ lat }) => Number(lat) < -89.98 && Number(lat) > -90,
    'west of Greenwich by less than a degree': ({ lon }) => /^-0\.\d*[1-9]/.test(lon),
    'no comment': ({ comment }) => comment === '',
    'a quote': ({ comment }) => comment.includes('"'),
    'a backslash': ({ comment }) => comment.includes('\\'),
    'a tab': ({ comment }) => comment.includes('\t'),
    'a line break': ({ comment }) => comment.includes('\n'),
    markup: ({ comment }) => comment.includes('<b>'),
    Finnish: ({ comment }) => /äjä|ää/.test(comment),
    Swedish: ({ comment }) => /å/.test(comment),
    Japanese: ({ comment }) => /[ぁ-ん]/.test(comment),
    emoji: ({ comment }) => /\p{Extended_Pictographic}/u.test(comment),
    'beyond the basic plane': ({ comment }) => comment.length > [...comment].length,
    'a line separator': ({ comment }) => comment.includes('\u2028'),
    'a long comment': ({ comment }) => comment.length > 800,
    'a tag with a number': ({ tags }) => tags?.some((tag) => / \d+$/.test(tag)) ?? false,
    'a tag without': ({ tags }) => tags?.some((tag) => !/\d/.test(tag)) ?? false,
    'no fraction of a second': ({ createdAt }) => createdAt.text.includes('.000000'),
    'created in winter': ({ createdAt }) => createdAt.text.endsWith('+02:00'),
    'created in summer': ({ createdAt }) => createdAt.text.endsWith('+03:00'),
  };
  for (const [name, holds] of Object.entries(cases)) assert.ok(points.some(holds), name);

  const places = new Map<string, number>();
  for (const { lat, lon } of points) {
    places.set(`${lat},${lon}`, (places.get(`${lat},${lon}`) ?? 0) + 1);
  }
  assert.ok(Math.max(...places.values()) >= 5, 'a crowded place');
  assert.not.ok([...places.keys()].some((place) => /-0\.0{8}/.test(place)));
});

test('fields are as often there as they should be', () => {
  const open = ({ status }: Point): boolean => status === 'OPEN';
  const shares: [what: string, holds: (point: Point) => boolean, low: number, high: number][] = [
    ['open', open, 0.075, 0.105],
    ['with an image', ({ image }) => image !== undefined, 0.15, 0.19],
    ['by a known user', ({ createdBy }) => createdBy !== undefined, 0.27, 0.33],
    ['with tags', ({ tags }) => tags !== undefined, 0.63, 0.69],
    ['processed', ({ isProcessed }) => isProcessed, 0.3, 0.4],
    ['never modified', (one) => one.modifiedAt.micros === one.createdAt.micros, 0.46, 0.54],
  ];
  for (const [what, holds, low, high] of shares) between(what, points.filter(holds), low, high);
  for (const point of points.filter(open)) assert.match(point.createdAt.text, /^2023-/);
  assert.equal(new Set(points.map((point) => point.status)), new Set(['NEW', 'OPEN']));
  for (const { id, image } of points) {
    if (image !== undefined) {
      assert.match(image, new RegExp(`^/media/map_data_points/${id}/[\\w]+\\.jpg$`));
    }
  }
  const vocabulary = new Set(points.flatMap(({ tags }) => tags ?? []).map(withoutNumber));
  assert.ok(vocabulary.size >= 18 && vocabulary.size <= 24, `${vocabulary.size} tags`);
  for (const { tags = [] } of points) assert.is(new Set(tags.map(withoutNumber)).size, tags.length);
});

test('times run from 2020 to 2023 on the clocks of Helsinki, changes never before creation', async () => {
  const zone = await openTimeZone('Europe/Helsinki');
  for (const { createdAt, modifiedAt } of points) {
    assert.match(createdAt.text, /^202[0-3]-/);
    assert.ok(modifiedAt.micros >= createdAt.micros);
    for (const { text, micros } of [createdAt, modifiedAt]) {
      assert.is(Date.parse(text), Math.floor(micros / 1000));
      const seconds = Date.parse(`${text.slice(0, 19)}Z`) / 1000;
      const expected = zone.offsetAt(seconds);
      // undefined in the hour that autumn repeats
      if (expected !== undefined) assert.is(seconds - Math.floor(micros / 1e6), expected, text);
    }
  }
});

test('summer time begins and ends to the second', () => {
  const changes = ['2020-03-29', '2020-10-25', '2021-03-28', '2021-10-31'];
  changes.push('2022-03-27', '2022-10-30', '2023-03-26', '2023-10-29');
  for (const [i, day] of changes.entries()) {
    const second = Date.parse(`${day}T01:00:00Z`) / 1000;
    const offsets = [helsinkiOffset(second - 1), helsinkiOffset(second)];
    assert.equal(offsets, i % 2 === 0 ? [7200, 10_800] : [10_800, 7200], day);
  }
});

function between(what: string, found: readonly Point[], low: number, high: number): void {
  const share = found.length / COUNT;
  assert.ok(share >= low && share <= high, `${what}: ${share}, expected ${low} to ${high}`);
}

function withoutNumber(tag: string): string {
  return tag.replace(/ \d+$/, '');
}

function metres(point: Point, lat: number, lon: number): number {
  return greatCircle(Number(point.lon), Number(point.lat), lon, lat);
}

test.run();
