import type { Random } from '../../src/generate/random.js';
import { benchRandom } from '../places.js';

/** Characters of a query: more would not fit in the service's limit of a request's head. */
const MAX_LENGTH = 12_000;

const ODD = [
  ...['', '-1', '-0', '+1', '01', '1.5', '1e1', '0x1', '٣', '%31', '%00', '%20', '..', 'z', 'NaN'],
  ...['23', '99', '4194304', '9007199254740993', '9'.repeat(40), '1,1', '{z}', '__proto__', '%ff'],
];

const ENDINGS = [
  '.mvt',
  '.mvt',
  '.mvt',
  '.mvt',
  '.mvt/',
  '',
  '.pbf',
  '.MVT',
  '.mvt.mvt',
  '.mvt%00',
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  grid: ['4', '8', '16', '32', '64', '128', '128', '0', '-4', '5', '256', '1e2', 'x'],
  cluster: ['true', 'false', 'false', 'FALSE', '0', 'no'],
  limit: ['1', '10000', '10001', '9'.repeat(30), '0', '-1', 'all'],
  fields: ['comment,tags,image', 'id', 'id,id', 'Id', ',', 'constructor', 'comment'],
  status: ['NEW', 'OPEN', 'NEW,OPEN', 'x'.repeat(999), ','],
  is_processed: ['true', 'false', '1'],
  tags: ['Lighting', 'Lighting,Noise', 'toString', '%F0%9F%98%80'],
  tags_all: ['Lighting', 'Lighting,Traffic'],
  created_by: ['none', 'none,7', '1,2,3', '-1', '9'.repeat(20)],
  has_image: ['true', 'false', ''],
  bbox: ['24,60,25,61', '-180,-90,180,90', '170,-90,-170,90', '1,2,3', 'nan,0,0,0', '0,0,0,0'],
  coordinates: ['60.17,24.94,5000', '0,0,20015000', '-90,0,9000000', '91,0,1', '0,0,-1'],
  created_at_after: ['2022-01-01T00:00:00Z', '1969-12-31T23:59:59.9Z', '2022-02-30T00:00Z'],
  modified_at_before: ['2023-06-01T00:00:00%2B03:00', 'now'],
  polygon: [
    '24,60;25,60;25,61',
    '0,0;0,0;0,0',
    '1,1;2,2',
    '-180,-90;180,-90;180,90;-180,90',
    ';;;',
  ],
  v: ['', 'x', '0123456789abcdef'],
  format: ['mvt', 'json', 'api'],
  constructor: ['x'],
  __proto__: ['x'],
};
const NAMES = Object.keys(VALUES);

/** Makes addresses of tiles that somebody means no good with; some are of tiles that there are. */
export function createHostileTiles(seed: number): () => string {
  const random = benchRandom(seed, 520);
  return () => {
    const query = Array.from({ length: random.int(5) }, () => parameter(random)).join('&');
    const address = `/tiles/${place(random)}${random.pick(ENDINGS)}`;
    return query === '' ? address : `${address}?${query.slice(0, MAX_LENGTH)}`;
  };
}

function place(random: Random): string {
  const z = random.int(23);
  const parts = [z, random.int(2 ** z), random.int(2 ** z)].map(String);
  // the edges of the pyramid, and what is just beyond them
  if (random.chance(0.3)) parts[1 + random.int(2)] = String(2 ** z - random.int(2));
  if (random.chance(0.2)) parts[random.int(3)] = random.pick(ODD);
  return parts.join('/');
}

function parameter(random: Random): string {
  if (random.chance(0.05)) return `polygon=${star(random)}`;
  if (random.chance(0.02)) return `tags=${'a,'.repeat(random.int(3_000))}`;
  const name = random.pick(NAMES);
  return `${name}=${random.pick(VALUES[name]!)}`;
}

/** A polygon whose many edges cross each other all over the world. */
function star(random: Random): string {
  const degrees = (limit: number): string => ((random.next() * 2 - 1) * limit).toFixed(1);
  const places = 3 + random.int(900);
  return Array.from({ length: places }, () => `${degrees(180)},${degrees(90)}`).join(';');
}
