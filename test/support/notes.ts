import { permutation, Random } from '../../src/cli/generate/random.js';
import { attributesOf } from '../../src/formats/attributes.js';
import type { StoredRecord } from '../../src/formats/record-layout.js';
import { AttributeCollector } from '../../src/index/attribute-collector.js';
import type { Attributes } from '../../src/index/postings.js';
import type { Point } from '../../src/model/point.js';
import { formatLocal, formatUtc } from '../../src/model/timestamp.js';
import type { Degrees, Microseconds } from '../../src/model/units.js';
import { point } from './native.js';

/** A point with only the fields that queries see. */
export interface Note {
  readonly id: number;
  readonly lon: Degrees;
  readonly lat: Degrees;
  readonly created: Microseconds;
  readonly modified: Microseconds;
  /** `NEW` when absent. */
  readonly status?: string;
  readonly isProcessed?: boolean;
  readonly hasImage?: boolean;
  readonly createdBy?: number;
  readonly tags?: readonly string[];
  /** A short text when absent. */
  readonly comment?: string;
}

const START: Microseconds = Date.UTC(2020, 0, 1) * 1000;
const YEARS: Microseconds = 4 * 365 * 86_400e6;

/** Cities, and clusters on the map's edges, poles and axes. */
const CLUSTERS: readonly [lon: Degrees, lat: Degrees, spread: Degrees][] = [
  [24.94, 60.17, 0.05],
  [25.5, 62.2, 1],
  [-74, 40.7, 0.2],
  [0, 51.48, 0.3],
  [179.99, -16.8, 0.2],
  [-179.99, 65, 2],
  [10, 89.9, 0.1],
  [-120, -89.99, 0.02],
  [0, 0, 0.5],
];

/** Frequent ones first; some need escapes. */
export const STATUSES: readonly string[] = ['NEW', 'OPEN', 'CLOSED', 'x"y', 'ä\\', ' NEW', '"'];
export const TAGS: readonly string[] = [
  ...['Lighting', 'Muu 2', 'Muu', 'Traffic', 'a', 'b', 'tags', '],"created_at":"'],
  ...['"', '\\', '\\"', '😀'.repeat(64), 'created_by', 'x\n\u0001', '[', ']', '{"id":1}', 'ä'],
  ...Array.from({ length: 30 }, (_, i) => `rare ${i}`),
];
export const USERS: readonly number[] = [148, 0, 7, 12, 2 ** 53 - 1, 99, 2 ** 40, 1, 2, 3, 4, 5, 6];

/**
 * Seeded notes where mistakes are likely: clusters, shared places and instants, whole degrees,
 * ±180, ±90, longitude 0, the poles' surroundings, times before 1970.
 */
export function scatterNotes(seed: number, count: number): Note[] {
  const random = new Random(seed, 'point');
  const placeOf = permutation(seed, Math.max(1, count));
  const instants = Array.from({ length: 50 }, () => START + random.int(1000) * 1e9);
  const attributes = new Random(seed, 'other');
  const notes: Note[] = [];
  for (let i = 0; i < count; i++) {
    const [lon, lat] = scatterPlace(random, notes);
    const created = scatterTime(random, instants);
    const modified = random.chance(0.4) ? created : scatterTime(random, instants);
    const id = i === 7 ? Number.MAX_SAFE_INTEGER : placeOf(i) * 3 + 1;
    const place = { lon: eightDigits(lon, 180), lat: eightDigits(lat, 90) };
    notes.push({ id, ...place, created, modified, ...scatterAttributes(attributes) });
  }
  return notes;
}

/** The point of a note, made by the validator of records. */
export function pointOf(note: Note): Point {
  return point({
    id: note.id,
    comment: note.comment ?? `note ${note.id} Ääkkönen`.slice(0, 5 + (note.id % 20)),
    lat: note.lat.toFixed(8),
    lon: note.lon.toFixed(8),
    ...(note.status === undefined ? {} : { status: note.status }),
    ...(note.hasImage ? { image: `/media/map_data_points/${note.id}/"${note.id}".jpg` } : {}),
    is_processed: note.isProcessed ?? false,
    ...(note.createdBy === undefined ? {} : { created_by: note.createdBy }),
    ...(note.tags === undefined ? {} : { tags: note.tags }),
    created_at: formatLocal(note.created, (note.id % 7) * 1_800 - 3_600),
    ...(note.modified === note.created ? {} : { modified_at: formatUtc(note.modified) }),
  });
}

/** Picks the first values of a list most often. */
export function pickSkewed<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(values.length * random.next() ** 4)]!;
}

type NoteAttributes = Pick<Note, 'status' | 'isProcessed' | 'hasImage' | 'createdBy' | 'tags'>;

function scatterAttributes(random: Random): NoteAttributes {
  const tags = Array.from({ length: random.int(4) }, () => pickSkewed(random, TAGS));
  return {
    status: pickSkewed(random, STATUSES),
    isProcessed: random.chance(0.35),
    hasImage: random.chance(0.02),
    ...(random.chance(0.3) ? { createdBy: pickSkewed(random, USERS) } : {}),
    ...(tags.length > 0 && random.chance(0.7) ? { tags } : {}),
  };
}

function scatterPlace(random: Random, notes: readonly Note[]): [lon: Degrees, lat: Degrees] {
  const everywhere = (): [Degrees, Degrees] => [random.between(-180, 180), random.between(-90, 90)];
  const kind = random.int(100);
  if (kind < 45) {
    const [lon, lat, spread] = random.pick(CLUSTERS);
    return [lon + random.gaussian() * spread, lat + random.gaussian() * spread];
  }
  if (kind < 65) return everywhere();
  if (kind < 75) return [random.int(361) - 180, random.int(181) - 90];
  if (kind < 82 && notes.length > 0) {
    const { lon, lat } = random.pick(notes);
    return random.chance(0.5) ? [lon, lat] : [lon, -lat];
  }
  const [lon, lat] = everywhere();
  if (kind < 87) return [random.pick([-180, 180]), random.chance(0.5) ? Math.round(lat) : lat];
  if (kind < 90) return [random.pick([-180, 0, 180, lon]), random.pick([-90, 90])];
  if (kind < 94) return random.chance(0.5) ? [0, lat] : [lon, 0];
  const nearly = random.pick([1e-8, 1e-6, 1e-4, 0.01]) * (1 + random.int(9));
  if (kind < 97) return [random.pick([-1, 1]) * (180 - nearly), lat];
  return [lon, random.pick([-1, 1]) * (90 - nearly)];
}

function scatterTime(random: Random, instants: readonly Microseconds[]): Microseconds {
  const kind = random.int(100);
  if (kind < 30) return random.pick(instants);
  if (kind < 33) return Math.floor(random.between(-9e15, 9e15));
  if (kind < 35) return random.int(5) - 2;
  return START + Math.floor(random.next() * YEARS);
}

/** Rounds to 8 digits, as records do; longitudes off the map wrap, latitudes are clipped. */
function eightDigits(degrees: Degrees, limit: 90 | 180): Degrees {
  let inside = degrees;
  if (Math.abs(degrees) > limit) {
    inside = limit === 180 ? degrees - Math.sign(degrees) * 360 : Math.sign(degrees) * limit;
  }
  return Number(inside.toFixed(8)) + 0;
}

export function attributesOfRecords(records: readonly StoredRecord[]): Attributes {
  const collector = new AttributeCollector(records.length);
  const lengths = Uint32Array.from(records, (record) => record.length);
  collector.addColumns(attributesOf(Buffer.concat(records), lengths), 0);
  return collector.finish();
}
