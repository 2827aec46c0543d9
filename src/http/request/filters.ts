import type { Box, Circle, Filters, Polygon, TimeWindow } from '../../model/query.js';
import { quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { parseQueryTime } from '../../model/timestamp.js';
import { type Degrees, isWhole, type Microseconds, UNITS_PER_DEGREE } from '../../model/units.js';
import {
  type Parameter,
  type ParameterReader,
  parameters,
  parseDecimals,
  parseFlag,
  parseWhole,
} from './parameter.js';
import { splitList } from './query-string.js';

/** Values that one parameter may name: each is looked up, which takes some 1 µs. */
const MAX_VALUES = 1_000;

/** The parameters that filter points, wherever points are asked for. */
export const FILTER_PARAMETERS: readonly Parameter[] = parameters(
  ...['created_at_after', 'created_at_before', 'modified_at_after', 'modified_at_before'],
  ...['bbox', 'coordinates', 'polygon', 'status', 'is_processed', 'tags', 'tags_all'],
  ...['created_by', 'has_image'],
);

/** Reads the filters of points; `zone` is where times without an offset stand. */
export function parseFilters(reader: ParameterReader, zone: TimeZone): Filters {
  return {
    createdAt: readWindow(reader, 'created_at', zone),
    modifiedAt: readWindow(reader, 'modified_at', zone),
    boxes: reader.read('bbox', parseBbox),
    circle: reader.read('coordinates', parseCircle),
    polygon: reader.read('polygon', parsePolygon),
    statuses: readList(reader, 'status', parseText),
    isProcessed: reader.read('is_processed', parseFlag),
    tags: readList(reader, 'tags', parseText),
    tagsAll: readList(reader, 'tags_all', parseText),
    createdBy: readList(reader, 'created_by', parseUser),
    hasImage: reader.read('has_image', parseFlag),
  };
}

function readWindow(reader: ParameterReader, name: string, zone: TimeZone): TimeWindow | undefined {
  const parse = (text: string): Microseconds | string => parseQueryTime(text, zone);
  const after = reader.read(`${name}_after`, parse);
  const before = reader.read(`${name}_before`, parse);
  if (after === undefined && before === undefined) return undefined;
  return {
    after: after ?? Number.NEGATIVE_INFINITY,
    before: before ?? Number.POSITIVE_INFINITY,
  };
}

/** Repeated parameters add up; each value counts once. `parse` returns it in a list. */
function readList<Value>(
  reader: ParameterReader,
  name: string,
  parse: (text: string) => readonly [Value] | string,
): readonly Value[] | undefined {
  let values: Set<Value> | undefined;
  for (const pair of reader.pairs) {
    if (pair.name !== name || pair.value === '') continue;
    values ??= new Set();
    for (const [index, text] of splitList(pair.value).entries()) {
      const value = text === '' ? `value ${index + 1} is empty` : parse(text);
      if (typeof value === 'string') return reader.refuse(name, pair.value, value);
      values.add(value[0]);
      if (values.size <= MAX_VALUES) continue;
      return reader.refuse(name, pair.value, `more than ${MAX_VALUES} values`);
    }
  }
  return values && [...values];
}

function parseText(text: string): [text: string] | string {
  return text.includes('\0') ? 'has a NUL character, which no record has' : [text];
}

function parseUser(text: string): [user: number | undefined] | string {
  if (text.trim() === 'none') return [undefined];
  const user = parseWhole(text);
  if (isWhole(user, 0)) return [user];
  return `${quote(text)} is neither none nor a whole number up to 2^53 - 1`;
}

function parseCircle(text: string): Circle | string {
  const numbers = parseDecimals(text, ['lat', 'lon', 'radius']);
  if (typeof numbers === 'string') return numbers;
  const [lat, lon, radius] = numbers as [number, number, number];
  if (Math.abs(lat) > 90) return 'lat, which comes first, is beyond ±90';
  if (Math.abs(lon) > 180) return 'lon, which comes second, is beyond ±180';
  if (radius < 0) return 'radius is negative';
  return { lat, lon, radius };
}

/** Ten decimals of a degree are a hundredth of a millimetre. */
const WRAPPED_UNITS = 1e10;
/** What rounding two wrapped edges can add to a span. */
const ROUNDING: Degrees = 2 / WRAPPED_UNITS;

/** One box, or two that meet at the antimeridian; or the reason as text. */
export function parseBbox(text: string): readonly Box[] | string {
  const numbers = parseDecimals(text, ['left', 'bottom', 'right', 'top']);
  if (typeof numbers === 'string') return numbers;
  const [left, south, right, north] = numbers as [number, number, number, number];
  if (south > north) return 'bottom is greater than top';
  return wrapBox(left, south, right, north);
}

/** `left` above `right` crosses the antimeridian; a span of 360 degrees is the whole world. */
function wrapBox(left: Degrees, south: Degrees, right: Degrees, north: Degrees): Box[] {
  const wraps = Math.abs(left) > 180 || Math.abs(right) > 180;
  if (wraps && right - left >= 360 - ROUNDING) return [{ west: -180, south, east: 180, north }];
  const west = wrapLongitude(left, 180);
  const east = wrapLongitude(right, -180);
  if (west <= east) return [{ west, south, east, north }];
  return [
    { west, south, east: 180, north },
    { west: -180, south, east, north },
  ];
}

/**
 * The same meridian within ±180. What wraps to the antimeridian becomes `antimeridian`, the number
 * that makes the box cross it, so that points at 180 and -180 lie inside; a longitude that was
 * within ±180 stays.
 */
function wrapLongitude(degrees: Degrees, antimeridian: Degrees): Degrees {
  if (degrees >= -180 && degrees <= 180) return degrees;
  const turned = degrees % 360;
  const wrapped = turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned;
  // 190.1 - 360 is not quite -169.9, and would miss a point on the edge
  const rounded = Math.round(wrapped * WRAPPED_UNITS) / WRAPPED_UNITS + 0;
  return Math.abs(rounded) === 180 ? antimeridian : rounded;
}

/** Places of all rings together. */
const MAX_PLACES = 1_000;
const LEAST_PLACES = 3;
/** Maps that are dragged round and round send longitudes beyond ±180, but none beyond this. */
const MAX_LONGITUDE = 3_600;
const TURN = 360 * UNITS_PER_DEGREE;
const HALF = TURN / 2;

/** Reads `lon,lat;lon,lat;…`, the rings with `|` between them; or returns the reason as text. */
export function parsePolygon(text: string): Polygon | string {
  const rings: Float64Array[] = [];
  let places = 0;
  for (const [index, ringText] of text.split('|').entries()) {
    const texts = ringText.split(';', MAX_PLACES + 1);
    places += texts.length;
    if (places > MAX_PLACES) return `has more than ${MAX_PLACES} places`;
    const ring = readRing(texts, index);
    if (typeof ring === 'string') return ring;
    rings.push(ring);
  }
  let crosses = false;
  for (const [index, ring] of rings.entries()) {
    const unrolled = unroll(ring);
    if (typeof unrolled === 'string') return `${nameOf(index)} ${unrolled}`;
    crosses ||= unrolled;
  }
  return place(rings, crosses);
}

/** The places of a ring, each once, rounded to the decimals that points have. */
function readRing(texts: readonly string[], index: number): Float64Array | string {
  if (texts.length < LEAST_PLACES) {
    const places = texts.length === 1 ? 'one place' : `${texts.length} places`;
    return `${nameOf(index)} has ${texts[0]!.trim() === '' ? 'no place' : places}`;
  }
  const ring = new Float64Array(2 * texts.length);
  for (const [i, text] of texts.entries()) {
    const name = `place ${i + 1}${index === 0 ? '' : ` of hole ${index}`}`;
    if (text.trim() === '') return `${name} is empty`;
    const numbers = parseDecimals(text, [`lon of ${name}`, `lat of ${name}`]);
    if (typeof numbers === 'string') return numbers.replace(/^needs/, `${name} needs`);
    const [lon, lat] = numbers as [number, number];
    if (Math.abs(lon) > MAX_LONGITUDE) return `lon of ${name} is beyond ±${MAX_LONGITUDE}`;
    if (Math.abs(lat) > 90) return `lat of ${name}, which comes second, is beyond ±90`;
    ring[2 * i] = Math.round(lon * UNITS_PER_DEGREE);
    ring[2 * i + 1] = Math.round(lat * UNITS_PER_DEGREE);
  }
  // a ring that is closed is the same as one that is not
  let end = ring.length;
  while (end > 2 * LEAST_PLACES && ring[end - 2] === ring[0] && ring[end - 1] === ring[1]) end -= 2;
  return ring.subarray(0, end);
}

function nameOf(index: number): string {
  return index === 0 ? 'the ring' : `hole ${index}`;
}

/**
 * Lets each edge of a ring go the short way round the Earth: one of more than 180 degrees crosses
 * the antimeridian. One of 360 degrees is the edge of a whole world, and stays. Returns whether the
 * ring crosses or touches the antimeridian, or what is wrong with it.
 */
function unroll(ring: Float64Array): boolean | string {
  let turned = 0;
  let hasTurned = false;
  for (let i = 2; i < ring.length; i += 2) {
    const turn = shortcut(ring[i]! + turned - ring[i - 2]!);
    turned += turn;
    hasTurned ||= turn !== 0;
    ring[i]! += turned;
  }
  // the last edge, as it was written, must lead back to where the ring began
  if (turned + shortcut(ring[0]! + turned - ring.at(-2)!) !== 0) {
    return 'goes round a pole; ask for a box, such as bbox=-180,60,180,90';
  }
  const { west, east } = extentOf(ring);
  if (east - west > TURN) return 'spans more than 360 degrees';
  return hasTurned || west < -HALF || east > HALF;
}

/** The whole turns that make a difference of longitudes the shortest. */
function shortcut(difference: number): number {
  if (Math.abs(difference) <= HALF || Math.abs(difference) === TURN) return 0;
  return -TURN * Math.round(difference / TURN);
}

/** Moves rings by whole turns: the outer one begins within ±180, and holes not west of it. */
function place(rings: readonly Float64Array[], crosses: boolean): Polygon {
  if (!crosses) return { rings, crosses };
  const [outer, ...holes] = rings;
  // the outer ring begins east of -180: its first antimeridian is 180
  const first = extentOf(outer!);
  const turn = Math.floor((HALF - first.west) / TURN) * TURN;
  move(outer!, turn);
  const west = first.west + turn;
  const placed = [outer!];
  for (const hole of holes) {
    const extent = extentOf(hole);
    const own = Math.ceil((west - extent.west) / TURN) * TURN;
    move(hole, own);
    placed.push(hole);
    // a hole that reaches beyond a whole world is repeated at its beginning
    if (extent.east + own - TURN > west) placed.push(hole.map((at, i) => at - (i % 2 ? 0 : TURN)));
  }
  return { rings: placed, crosses };
}

function move(ring: Float64Array, by: number): void {
  for (let i = 0; i < ring.length; i += 2) ring[i]! += by;
}

function extentOf(ring: Float64Array): { readonly west: number; readonly east: number } {
  let [west, east] = [Infinity, -Infinity];
  for (let i = 0; i < ring.length; i += 2) {
    west = Math.min(west, ring[i]!);
    east = Math.max(east, ring[i]!);
  }
  return { west, east };
}
