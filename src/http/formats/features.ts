import { Members, memberOf, type WriteRecord, writeMembers } from '../../formats/record-layout.js';
import { copyBytes } from '../../model/memory.js';
import { RECORD_KEYS, type RecordKey } from '../../model/point.js';
import { writeBody } from './json-format.js';
import {
  type Exchange,
  type Format,
  type Link,
  type ListFacts,
  type Page,
  selfLink,
} from './representation.js';

const GEOJSON_TYPE = 'application/geo+json';

/** GeoJSON, as RFC 7946 has it: a list is a FeatureCollection, a point alone a Feature. */
export const GEOJSON: Format = {
  name: 'geojson',
  parameter: 'geojson',
  mediaType: GEOJSON_TYPE,
  encode: encodeFeatures,
};

function encodeFeatures(
  { list, records, keys, related = [] }: Page,
  exchange: Exchange,
): Buffer<ArrayBuffer> {
  // addresses are ASCII without quotes or backslashes
  const links = [...(list ? listLinks(list) : []), ...related].map(
    ({ rel, type, href }) => `{"rel":"${rel}","type":"${type}","href":"${href}"}`,
  );
  const member = links.length === 0 ? '' : `,"links":[${links.join(',')}]`;
  if (list === undefined) {
    const room = FEATURE_ROOM + member.length;
    return writeBody(records, createFeatureWriter(keys, member), exchange, { room });
  }
  const numbers = `"numberMatched":${list.count},"numberReturned":${records.count}`;
  const before = `{"type":"FeatureCollection",${numbers}${member},"features":[`;
  const around = { before, after: ']}', room: FEATURE_ROOM };
  return writeBody(records, createFeatureWriter(keys), exchange, around);
}

function listLinks({ links, base, pairs }: ListFacts): Link[] {
  const { next, previous } = links();
  const all = Object.entries({ self: selfLink(base, pairs), next, prev: previous });
  return all.flatMap(([rel, href]) => (href === null ? [] : { rel, type: GEOJSON_TYPE, href }));
}

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
/** Bytes that a Feature may have more than its record. */
export const FEATURE_ROOM: number =
  BEFORE_ID.length + MOST_ID + BEFORE_PLACE.length + BEFORE_PROPERTIES.length + 8;

/**
 * Makes a writer of records as GeoJSON Features. Properties are `keys` without the place; the id is
 * among them, since many programs drop that of the Feature. `after` is JSON behind the properties,
 * with a comma in front; it needs room besides {@link FEATURE_ROOM}.
 */
export function createFeatureWriter(
  keys: readonly RecordKey[] = RECORD_KEYS,
  after = '',
): WriteRecord {
  const members = new Members();
  const { starts, ends } = members;
  const properties = keys.map(memberOf).filter((member) => ![LAT, LON].includes(member));
  const ending = Buffer.from(`}${after}`);
  return (record, target, at) => {
    members.find(record);
    let end = copyBytes(BEFORE_ID, 0, BEFORE_ID.length, target, at);
    end = copyBytes(record, starts[ID]!, ends[ID]!, target, end);
    end = copyBytes(BEFORE_PLACE, 0, BEFORE_PLACE.length, target, end);
    end = copyBytes(record, starts[LON]!, ends[LON]!, target, end);
    target[end++] = COMMA;
    end = copyBytes(record, starts[LAT]!, ends[LAT]!, target, end);
    end = copyBytes(BEFORE_PROPERTIES, 0, BEFORE_PROPERTIES.length, target, end);
    end = writeMembers(record, members, properties, target, end);
    end = copyBytes(ending, 0, ending.length, target, end);
    target[end] = BRACE_CLOSE;
    return end + 1;
  };
}

/** The formats of items: clients that ask for JSON get GeoJSON, too. */
export const ITEMS_FORMATS: readonly Format[] = [
  GEOJSON,
  { ...GEOJSON, parameter: 'json', mediaType: 'application/json', contentType: GEOJSON_TYPE },
];
