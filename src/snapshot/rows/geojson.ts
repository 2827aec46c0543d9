import { isObject } from '../../model/object.js';
import type { Row } from './row.js';

/** The record that a GeoJSON feature stands for: its properties, with the place of its point. */
export function featureRow(place: number, feature: unknown): Row {
  if (!isObject(feature) || feature['type'] !== 'Feature') {
    return problem(place, 'record', 'must be a GeoJSON Feature');
  }
  const geometry = feature['geometry'];
  if (!isObject(geometry) || geometry['type'] !== 'Point') {
    const type = isObject(geometry) ? JSON.stringify(geometry['type']) : 'none';
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

/** Whether a value is a Feature, and no record that only has a key `type` as well. */
export function isFeature(value: unknown): boolean {
  return isObject(value) && value['type'] === 'Feature' && 'geometry' in value && !('lat' in value);
}

function problem(place: number, field: string, reason: string): Row {
  return { place, problem: { field, reason } };
}
