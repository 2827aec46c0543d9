import { benchRandom } from '../../bench/places.js';
import type { Random } from '../../src/cli/generate/random.js';

/** Characters of a query: more would not fit in the service's limit of a request's head. */
const MAX_LENGTH = 12_000;

const ODD = [
  ...[
    '',
    '-1',
    '-0',
    '+1',
    '01',
    '1.5',
    '1e1',
    '0x1',
    '%D9%A3',
    '%31',
    '%00',
    '%20',
    '..',
    'z',
    'NaN',
  ],
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

/** Parameters that are taken, at least by some tiles. */
const GOOD = [
  ...['grid=4', 'grid=128', 'grid=128&grid=', 'cluster=false', 'cluster=false&limit=1', 'limit=50'],
  ...[`limit=${'9'.repeat(30)}`, 'fields=comment,tags,image', 'fields=id,id', 'v=x', 'format='],
  ...['status=NEW', 'status=OPEN,NEW', `status=${'x'.repeat(999)}`, 'is_processed=false'],
  ...['tags=Lighting', 'tags=toString,%F0%9F%98%80', 'tags_all=Lighting,Traffic', 'has_image=true'],
  ...['created_by=none,7', 'created_by=1,2,3', 'bbox=24,60,25,61', 'bbox=170,-90,-170,90'],
  ...['bbox=-180,-90,180,90', 'coordinates=60.17,24.94,5000', 'coordinates=0,0,20015000'],
  ...['created_at_after=2022-01-01T00:00:00Z', 'modified_at_before=2023-06-01T00:00:00%2B03:00'],
  ...[
    'polygon=24,60;25,60;25,61',
    'polygon=-180,-90;180,-90;180,90;-180,90',
    'polygon=0,0;0,0;0,0',
  ],
  ...['__proto__=x', 'constructor=x', 'toString', '=', '%', ''],
];

/** Parameters that are not. */
const BAD = [
  ...['grid=0', 'grid=256', 'grid=1e2', 'cluster=FALSE', 'limit=0', 'limit=all', 'fields=Id'],
  ...['fields=,', 'status=,', 'is_processed=1', 'created_by=-1', 'has_image=maybe', 'bbox=1,2,3'],
  ...[
    'bbox=nan,0,0,0',
    'coordinates=91,0,1',
    'coordinates=0,0,-1',
    'polygon=1,1;2,2',
    'polygon=;;',
  ],
  ...['created_at_after=2022-02-30T00:00Z', 'modified_at_before=now', 'format=json', 'tags=,,'],
];

const SOME = 0.1;

/** Makes addresses of tiles that somebody means no good with; some are of tiles that there are. */
export function createHostileTiles(seed: number): () => string {
  const random = benchRandom(seed, 520);
  return () => {
    const query = Array.from({ length: random.int(5) }, () => parameter(random)).join('&');
    const ending = random.chance(SOME) ? random.pick(ENDINGS) : '.mvt';
    const address = `/tiles/${place(random)}${ending}`;
    return query === '' ? address : `${address}?${query.slice(0, MAX_LENGTH)}`;
  };
}

function place(random: Random): string {
  // there is more to look at in tiles of small zooms
  const z = Math.floor(23 * random.next() ** 2);
  const parts = [z, random.int(2 ** z), random.int(2 ** z)].map(String);
  // the edges of the pyramid, and what is just beyond them
  if (random.chance(0.3)) parts[1 + random.int(2)] = String(2 ** z - (random.chance(SOME) ? 0 : 1));
  if (random.chance(SOME)) parts[random.int(3)] = random.pick(ODD);
  return parts.join('/');
}

function parameter(random: Random): string {
  if (random.chance(0.05)) return `polygon=${star(random)}`;
  if (random.chance(0.02)) return `tags=${'a,'.repeat(random.int(3_000))}b`;
  return random.pick(random.chance(SOME) ? BAD : GOOD);
}

/** A polygon whose many edges cross each other all over the world. */
function star(random: Random): string {
  const degrees = (limit: number): string => ((random.next() * 2 - 1) * limit).toFixed(1);
  const places = 3 + random.int(900);
  return Array.from({ length: places }, () => `${degrees(180)},${degrees(90)}`).join(';');
}
