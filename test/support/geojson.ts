import * as assert from 'uvu/assert';
import type { Link } from '../../src/http/formats/representation.js';
import type { Asking } from './client.js';

export interface PointFeature {
  readonly type: 'Feature';
  readonly id: number;
  readonly geometry: { readonly type: 'Point'; readonly coordinates: readonly [number, number] };
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface FeatureCollection {
  readonly type: 'FeatureCollection';
  readonly numberMatched: number;
  readonly numberReturned: number;
  readonly links: readonly Link[];
  readonly features: readonly PointFeature[];
}

/** Members that RFC 7946 gives to one kind of object, and forbids to the others. */
const RESERVED = ['coordinates', 'geometries', 'geometry', 'properties', 'features'];

/** Checks by RFC 7946, sections 3 and 7, that a value is a Feature of a point. */
export function checkFeature(value: unknown): PointFeature {
  const feature = objectOf(value);
  assert.is(feature['type'], 'Feature');
  assert.ok(['number', 'string'].includes(typeof feature['id']), 'id is a number or a text');
  checkReserved(feature, ['geometry', 'properties']);
  objectOf(feature['properties']);
  const geometry = objectOf(feature['geometry']);
  assert.is(geometry['type'], 'Point');
  checkReserved(geometry, ['coordinates']);
  const position = geometry['coordinates'];
  assert.ok(Array.isArray(position) && position.length === 2, 'a position is two numbers');
  const [lon, lat] = position as unknown[];
  assert.ok(typeof lon === 'number' && Math.abs(lon) <= 180, `longitude ${lon}`);
  assert.ok(typeof lat === 'number' && Math.abs(lat) <= 90, `latitude ${lat}`);
  return value as PointFeature;
}

/** Checks that a text is a FeatureCollection of points with right numbers and links. */
export function checkCollection(text: string): FeatureCollection {
  const collection = objectOf(JSON.parse(text));
  assert.is(collection['type'], 'FeatureCollection');
  checkReserved(collection, ['features']);
  assert.not('crs' in collection, 'RFC 7946 knows one reference system');
  const { features, links, numberMatched, numberReturned } =
    collection as unknown as FeatureCollection;
  assert.ok(Array.isArray(features) && Array.isArray(links));
  for (const feature of features) checkFeature(feature);
  assert.is(numberReturned, features.length);
  assert.ok(numberMatched >= numberReturned);
  for (const { rel, type, href } of links) {
    assert.ok(['self', 'next', 'prev', 'collection'].includes(rel), rel);
    assert.is(type, rel === 'collection' ? 'application/json' : 'application/geo+json');
    assert.is(new URL(href).href, href);
  }
  return collection as unknown as FeatureCollection;
}

function objectOf(value: unknown): Record<string, unknown> {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object');
  return value as Record<string, unknown>;
}

function checkReserved(object: Record<string, unknown>, own: readonly string[]): void {
  for (const name of RESERVED) assert.is(name in object, own.includes(name), name);
}

/** The Features of the page at an address and of all pages after it. */
export async function allItems(
  { get }: Asking,
  path: string,
  onPage: (text: string) => void | Promise<void> = () => {},
): Promise<FeatureCollection['features'][number][]> {
  const features = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { text } = await get(next);
    await onPage(text);
    const page = JSON.parse(text) as FeatureCollection;
    features.push(...page.features);
    const link = page.links.find(({ rel }) => rel === 'next');
    const url = link && new URL(link.href);
    next = url && url.pathname + url.search;
  }
  return features;
}
