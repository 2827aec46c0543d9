import { show } from '../../model/quote.js';
import { isObject } from '../../model/units.js';
import type { Row } from './row.js';

/** The record that a GeoJSON feature stands for: its properties, with the place of its point. */
export function featureRow(place: number, feature: unknown): Row {
  if (!isObject(feature) || feature['type'] !== 'Feature') {
    return problem(place, 'record', 'must be a GeoJSON Feature');
  }
  const crs = foreignCrs(feature['crs']);
  if (crs !== undefined) return problem(place, 'crs', crs);
  const geometry = feature['geometry'];
  if (!isObject(geometry) || geometry['type'] !== 'Point') {
    const type = isObject(geometry) ? show(geometry['type']) : 'none';
    return problem(place, 'geometry', `must be a Point, got ${type}`);
  }
  const coordinates = geometry['coordinates'];
  if (!Array.isArray(coordinates) || coordinates.length < 2) {
    return problem(place, 'geometry', 'must have coordinates: longitude, latitude');
  }
  const properties = feature['properties'] ?? {};
  if (!isObject(properties)) return problem(place, 'properties', 'must be an object');
  const id = properties['id'] ?? feature['id'];
  const [lon, lat] = coordinates;
  return { place, value: { ...properties, id, lat, lon } };
}

/** Longitude and latitude, by the names that older GeoJSON has for them. */
const DEGREES = /(?:^|[:/])(?:CRS84h?|EPSG(?:[:/][\d.]*)?[:/]4326)$/i;

/** What is wrong with the member `crs` of older GeoJSON; undefined where it means degrees. */
export function foreignCrs(crs: unknown): string | undefined {
  if (crs === undefined || crs === null) return undefined;
  const properties = isObject(crs) ? crs['properties'] : undefined;
  const name = isObject(properties) ? properties['name'] : undefined;
  if (typeof name === 'string' && DEGREES.test(name)) return undefined;
  return `must be CRS84 or EPSG:4326, got ${show(name ?? crs)}; write degrees, as ogr2ogr -t_srs EPSG:4326 does`;
}

/** Whether a value is a Feature, and no record that only has a key `type` as well. */
export function isFeature(value: unknown): boolean {
  return isObject(value) && value['type'] === 'Feature' && 'geometry' in value && !('lat' in value);
}

function problem(place: number, field: string, reason: string): Row {
  return { place, problem: { field, reason } };
}
