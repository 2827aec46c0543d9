import geographiclib from 'geographiclib-geodesic';
import { MAX_BLOCK_POINTS, type PointBlock } from '../../src/formats/block.js';
import { storePoint } from '../../src/formats/record-layout.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset, type Dataset } from '../../src/index/dataset.js';
import { geodesic } from '../../src/model/geo.js';
import type { Circle } from '../../src/model/query.js';
import type { Degrees, Metres } from '../../src/model/units.js';
import { readerOfBlocks } from './engine.js';
import { point } from './native.js';

/** A layout of points that makes some circles as expensive as possible. */
interface HostileData {
  readonly name: string;
  readonly circles: readonly Circle[];
  /** Times of creation and modification; scattered where absent. */
  readonly times?: Times;
  /** Longitude and latitude of each point in turn, rounded to 8 digits as in snapshots. */
  make(count: number): Float64Array;
}

/** The minutes in which point `i` was created and modified. */
export type Times = (i: number) => readonly [created: number, modified: number];

interface Place {
  readonly lat: Degrees;
  readonly lon: Degrees;
}

const HELSINKI: Place = { lat: 60.17, lon: 24.94 };
const ANTIPODE: Place = { lat: -60.17, lon: -155.06 };
const FIJI: Place = { lat: -16.8, lon: 179.99 };
const NORTH_POLE: Place = { lat: 90, lon: 0 };

export const HOSTILE_DATA: readonly HostileData[] = [
  ring('ring of 1 km', HELSINKI, 1_000),
  ring('ring of 20 km', HELSINKI, 20_000),
  ring('ring of 100 km', FIJI, 100_000),
  ring('ring of 5,000 km', HELSINKI, 5_000_000, [{ ...ANTIPODE, radius: 15_003_931 }]),
  ring('ring of 15,000 km', HELSINKI, 15_000_000),
  ring('ring of 19,900 km', HELSINKI, 19_900_000),
  ring('ring of 19,990 km', HELSINKI, 19_990_000),
  ring('ring of 50 km, seen from its antipode', ANTIPODE, 50_000, [
    { ...HELSINKI, radius: 19_954_000 },
    { ...HELSINKI, radius: 19_990_000 },
  ]),
  layout(
    'one spot',
    [
      { lat: 60.18, lon: 24.95, radius: geodesic(24.95, 60.18, HELSINKI.lon, HELSINKI.lat) },
      { lat: 0, lon: 0, radius: geodesic(0, 0, HELSINKI.lon, HELSINKI.lat) },
      { lat: -60, lon: -155, radius: geodesic(-155, -60, HELSINKI.lon, HELSINKI.lat) },
      { ...HELSINKI, radius: 0 },
      { ...HELSINKI, radius: 1_000 },
    ],
    () => [HELSINKI.lon, HELSINKI.lat],
  ),
  layout(
    'a pole by every longitude',
    [
      { ...NORTH_POLE, radius: 0 },
      { lat: 60, lon: 10, radius: geodesic(10, 60, 0, 90) },
      { lat: -89, lon: 10, radius: geodesic(10, -89, 0, 90) },
    ],
    (part) => [360 * part - 180, 90],
  ),
  layout('a thousand piles on a ring', [{ ...HELSINKI, radius: 100_000 }], (_, i) =>
    onRing(HELSINKI, 100_000, (i % 1_000) * 0.36),
  ),
  layout(
    'grid of 0.001 degrees',
    [
      { ...HELSINKI, radius: geodesic(24.94, 60.17, 25.14, 60.17) },
      { lat: 0, lon: 25, radius: geodesic(25, 0, 25, 60.17) },
      { ...ANTIPODE, radius: geodesic(-155.06, -60.17, 25.14, 60.27) },
    ],
    (_, i, count) => {
      const side = Math.ceil(Math.sqrt(count));
      const [column, row] = [i % side, Math.floor(i / side)].map((at) => (at - side / 2) * 0.001);
      return [HELSINKI.lon + column!, HELSINKI.lat + row!];
    },
  ),
  layout(
    'both sides of the antimeridian',
    [
      { lat: 0, lon: 180, radius: 5_000_000 },
      { lat: 0, lon: 0, radius: 19_000_000 },
      { lat: 10, lon: -90, radius: geodesic(-90, 10, 180, 10) },
    ],
    (part, i, count) => [i % 2 === 0 ? 180 : -180, 180 * part + 90 / count - 90],
  ),
  layout(
    'one parallel',
    [
      { ...NORTH_POLE, radius: geodesic(0, 90, 0, 60) },
      { lat: 60, lon: 0, radius: 1_000_000 },
      { lat: -60, lon: 180, radius: 19_990_000 },
    ],
    (part) => [360 * part - 180, 60],
  ),
  meridian('one meridian, modified in the reverse order of creation', (i) => [i, 2_102_400 - i]),
  meridian('one meridian, all at one time', () => [0, 0]),
];

/** `place` gives longitude and latitude of point `i` of `count`; `part` is `i / count`. */
function layout(
  name: string,
  circles: readonly Circle[],
  place: (part: number, i: number, count: number) => [Degrees, Degrees],
): HostileData {
  const make = (count: number): Float64Array =>
    Float64Array.from(
      Array.from({ length: count }, (_, i) => place(i / count, i, count)).flat(),
      (degrees) => Number(degrees.toFixed(8)),
    );
  return { name, circles, make };
}

function ring(name: string, centre: Place, radius: Metres, more: Circle[] = []): HostileData {
  return layout(name, [{ ...centre, radius }, ...more], (part) =>
    onRing(centre, radius, 360 * part),
  );
}

function meridian(name: string, times: Times): HostileData {
  const circles = [{ ...HELSINKI, radius: 9_000_000 }];
  return { ...layout(name, circles, (part) => [25, 170 * part - 85]), times };
}

function onRing({ lat, lon }: Place, radius: Metres, azimuth: Degrees): [Degrees, Degrees] {
  const end = geographiclib.Geodesic.WGS84.Direct(lat, lon, azimuth, radius);
  return [end.lon2!, end.lat2!];
}

const START = Date.UTC(2020, 0, 1) * 1000;
const MINUTE = 60e6;

/** Attributes; half, a fifth and a 64th of the points each have one more. */
const RECORDS: readonly Buffer[] = Array.from({ length: 8 }, (_, variant) => {
  const status = variant & 1 ? 'OPEN' : 'NEW';
  const tags = variant & 4 ? ['rare', 'all'] : ['all'];
  return storePoint(point({ id: 1, status, is_processed: !!(variant & 2), tags }));
});

function recordOf(i: number, count: number): Buffer {
  const variant = (i % 5 === 0 ? 1 : 0) + (i > count / 2 ? 2 : 0) + (i % 64 === 7 ? 4 : 0);
  return RECORDS[variant]!;
}

function anyTimes(i: number): readonly [created: number, modified: number] {
  return [(i * 611_953) % 2_102_400, (i * 1_299_709) % 2_102_400];
}

/** Builds a dataset of the points; their records hold only attributes. */
export async function hostileDataset(
  coords: Float64Array,
  times: Times = anyTimes,
): Promise<Dataset> {
  const reader = readerOfBlocks(coords.length / 2, MAX_BLOCK_POINTS, (from, to) =>
    blockOf(coords, times, from, to),
  );
  return assembleDataset(await buildDataset(reader));
}

function blockOf(coords: Float64Array, times: Times, from: number, to: number): PointBlock {
  const count = to - from;
  const column = (at: (i: number) => number): Float64Array =>
    Float64Array.from({ length: count }, (_, i) => at(from + i));
  const points = coords.length / 2;
  const records = Array.from({ length: count }, (_, i) => recordOf(from + i, points));
  return {
    count,
    // a stride without a common factor puts neighbours on the map far apart in each order
    id: column((i) => 1 + ((i * 7_368_787) % 2 ** 32)),
    lon: column((i) => coords[2 * i]!),
    lat: column((i) => coords[2 * i + 1]!),
    createdAt: column((i) => START + times(i)[0] * MINUTE),
    modifiedAt: column((i) => START + times(i)[1] * MINUTE),
    length: Uint32Array.from(records, (record) => record.length),
    records: Buffer.concat(records),
  };
}
