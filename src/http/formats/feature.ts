import {
  copyBytes,
  copyMembers,
  createMemberPlaces,
  findMembers,
  type MemberPlaces,
  memberOf,
  valueStart,
} from '../../dataset/record-members.js';
import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import type { WriteRecord } from './projection.js';

const ID = memberOf('id');
const LAT = memberOf('lat');
const LON = memberOf('lon');

const BEFORE_ID = Buffer.from('{"type":"Feature","id":');
const BEFORE_PLACE = Buffer.from(',"geometry":{"type":"Point","coordinates":[');
const BEFORE_PROPERTIES = Buffer.from(']},"properties":{');
const COMMA = 0x2c;
const BRACE_CLOSE = 0x7d;

/** Digits of the largest id. */
const MOST_ID = 16;
/** Bytes that a Feature may have more than the record that it is made of. */
export const FEATURE_ROOM: number =
  BEFORE_ID.length + MOST_ID + BEFORE_PLACE.length + BEFORE_PROPERTIES.length + 8;

/**
 * Makes what writes records as Features of GeoJSON: the point's id is the Feature's, its place the
 * geometry, and what it has besides its place, or those of `keys`, the properties. The id is one
 * of them, since many a program drops that of the Feature. `after` is JSON that stands
 * behind the properties, with a comma in front; it needs room beside {@link FEATURE_ROOM}. Numbers
 * and texts are copied as they are written.
 */
export function createFeatureWriter(
  keys: readonly RecordKey[] = RECORD_KEYS,
  after = '',
): WriteRecord {
  const places = createMemberPlaces();
  const properties = keys.map(memberOf).filter((member) => ![LAT, LON].includes(member));
  const ending = Buffer.from(`}${after}`);
  return (record, target, at) => {
    findMembers(record, places);
    let end = put(BEFORE_ID, target, at);
    end = copyBytes(record, valueStart(places, ID), places[2 * ID + 1]!, target, end);
    end = put(BEFORE_PLACE, target, end);
    end = copyDegrees(record, places, LON, target, end);
    target[end++] = COMMA;
    end = copyDegrees(record, places, LAT, target, end);
    end = put(BEFORE_PROPERTIES, target, end);
    end = copyMembers(record, places, properties, target, end);
    end = put(ending, target, end);
    target[end] = BRACE_CLOSE;
    return end + 1;
  };
}

/** Copies a coordinate without its quotes: its text is a number of JSON. */
function copyDegrees(
  record: Uint8Array,
  places: MemberPlaces,
  member: number,
  target: Uint8Array,
  at: number,
): number {
  const end = places[2 * member + 1]! - 1;
  return copyBytes(record, valueStart(places, member) + 1, end, target, at);
}

function put(bytes: Uint8Array, target: Uint8Array, at: number): number {
  target.set(bytes, at);
  return at + bytes.length;
}
