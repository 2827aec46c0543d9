import { show } from '../../model/quote.js';
import { isObject } from '../../model/units.js';
import { FEATURE_FORM, JSON_FORM, type RenderedPoint, readRendered } from './canonical.js';
import { JsonDocument, parsePart } from './json-document.js';
import { BrokenRows, problemRow, type Row, TOO_LONG } from './row.js';

/**
 * Reads a JSON document: an array of records, an object with a list `results`, or a GeoJSON
 * FeatureCollection. A syntax error ends reading: nothing tells where the next record begins. Throws
 * at the end where the document is a page of a longer list.
 */
export async function* readJson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let rendered: RenderedPoint | undefined;
  const isRendered = (bytes: Uint8Array): boolean => {
    rendered = readRendered(bytes, document.list === 'features' ? FEATURE_FORM : JSON_FORM);
    return rendered !== undefined;
  };
  const document: JsonDocument = new JsonDocument(({ place, bytes, start }) => {
    if (bytes === undefined) {
      rows.push({ place, problem: TOO_LONG });
    } else if (rendered !== undefined || isRendered(bytes)) {
      rows.push({ place, value: rendered });
    } else {
      const value = parsePart(bytes, start!, place);
      rows.push(document.list === 'features' ? featureRow(place, value) : { place, value });
    }
    rendered = undefined;
  }, isRendered);
  for await (const chunk of chunks) {
    let fault: unknown;
    try {
      document.write(chunk);
    } catch (error) {
      fault = error;
    }
    const crs = document.list === 'features' ? foreignCrs(document.members['crs']) : undefined;
    if (crs !== undefined) throw new BrokenRows(`its "crs" ${crs}`);
    yield rows;
    if (fault !== undefined) throw fault;
    rows = [];
  }
  requireRecords(document);
  const page = pageOf(document);
  if (page === undefined) return;
  throw new BrokenRows(`is a page of a longer list: ${page}; fetch all of it`);
}

/** Throws where the document is incomplete or has no list of records. */
function requireRecords({ list, members, records, bytes, isComplete }: JsonDocument): void {
  if (!isComplete) {
    throw new BrokenRows(
      `the JSON document is cut short: it ends at byte ${bytes}, inside or behind record ` +
        `${records + 1}`,
    );
  }
  if (list === undefined) {
    throw new BrokenRows(
      'a JSON document must be an array of records, an object with a list "results", or a ' +
        `GeoJSON FeatureCollection with a list "features"; this one is ${show(members)}`,
    );
  }
  if (list === 'features' && members['type'] !== 'FeatureCollection') {
    throw new BrokenRows('a list "features" needs a "type" of "FeatureCollection" beside it');
  }
}

/** Why the document is a page of a longer list; undefined where it may be the whole list. */
function pageOf({ members, records }: JsonDocument): string | undefined {
  const next = members['next'] ?? nextLink(members['links']);
  if (next !== undefined && next !== null) return `it has a next page, ${show(next)}`;
  const count = members['count'] ?? members['numberMatched'];
  if (typeof count !== 'number' || count === records) return undefined;
  return `it says that there are ${count} records, and has ${records}`;
}

function nextLink(links: unknown): unknown {
  if (!Array.isArray(links)) return undefined;
  return links.find((link) => link?.rel === 'next')?.href;
}

/** The record of a GeoJSON feature: its properties, and the coordinates of its point. */
export function featureRow(place: number, feature: unknown): Row {
  if (!isObject(feature) || feature['type'] !== 'Feature') {
    return problemRow(place, 'must be a GeoJSON Feature');
  }
  const crs = foreignCrs(feature['crs']);
  if (crs !== undefined) return problemRow(place, crs, 'crs');
  const geometry = feature['geometry'];
  if (!isObject(geometry) || geometry['type'] !== 'Point') {
    const type = isObject(geometry) ? show(geometry['type']) : 'none';
    return problemRow(place, `must be a Point, got ${type}`, 'geometry');
  }
  const coordinates = geometry['coordinates'];
  if (!Array.isArray(coordinates) || coordinates.length < 2) {
    return problemRow(place, 'must have coordinates: longitude, latitude', 'geometry');
  }
  const properties = feature['properties'] ?? {};
  if (!isObject(properties)) return problemRow(place, 'must be an object', 'properties');
  const id = properties['id'] ?? feature['id'];
  const [lon, lat] = coordinates;
  return { place, value: { ...properties, id, lat, lon } };
}

/** Names of longitude and latitude in older GeoJSON. */
const DEGREES = /(?:^|[:/])(?:CRS84h?|EPSG(?:[:/][\d.]*)?[:/]4326)$/i;

/** What is wrong with a member `crs` of older GeoJSON; undefined where it means degrees. */
export function foreignCrs(crs: unknown): string | undefined {
  if (crs === undefined || crs === null) return undefined;
  const properties = isObject(crs) ? crs['properties'] : undefined;
  const name = isObject(properties) ? properties['name'] : undefined;
  if (typeof name === 'string' && DEGREES.test(name)) return undefined;
  return (
    `must be CRS84 or EPSG:4326, got ${show(name ?? crs)}; write degrees, as ogr2ogr -t_srs ` +
    'EPSG:4326 does'
  );
}

/** Whether a value is a Feature, not a record with a key `type`. */
export function isFeature(value: unknown): boolean {
  return isObject(value) && value['type'] === 'Feature' && 'geometry' in value && !('lat' in value);
}
