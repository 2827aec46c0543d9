import { createFeatureWriter, FEATURE_ROOM } from './feature.js';
import type { Format, Link, ListFacts, Page } from './format.js';
import { GEOJSON } from './geojson.js';
import { selfLink } from './links.js';
import { writeBody } from './rewritten.js';

/** GeoJSON with the links that OGC API - Features wants. */
const ITEMS: Format = {
  ...GEOJSON,
  sizeParameter: 'limit',
  // the time when an answer was made is in it
  isWeak: true,
  encode({ list, records, keys, related = [] }, exchange) {
    const links = `"links":[${[...ownLinks(list), ...related].map(linkOf).join(',')}]`;
    const inFeature = list === undefined ? `,${links}` : '';
    const before = list === undefined ? '' : beforeFeatures(list, records.count, links);
    const after = list === undefined ? '' : ']}';
    const room = FEATURE_ROOM + inFeature.length;
    const write = createFeatureWriter(keys, inFeature);
    return writeBody({ before, after, records, room, write }, exchange);
  },
};

/** The formats of items: clients that ask for JSON get GeoJSON, too. */
export const ITEMS_FORMATS: readonly Format[] = [
  ITEMS,
  { ...ITEMS, parameter: 'json', mediaType: 'application/json' },
];

/** A collection up to its first Feature. */
function beforeFeatures({ count }: ListFacts, returned: number, links: string): string {
  const now = new Date().toISOString();
  const numbers = `"numberMatched":${count},"numberReturned":${returned}`;
  return `{"type":"FeatureCollection","timeStamp":"${now}",${numbers},${links},"features":[`;
}

function ownLinks(list: Page['list']): Link[] {
  if (list === undefined) return [];
  const { links, base, pairs } = list;
  const type = GEOJSON.mediaType;
  const own = [{ rel: 'self', type, href: selfLink(base, pairs) }];
  if (links.next !== null) own.push({ rel: 'next', type, href: links.next });
  return own;
}

function linkOf({ rel, type, href }: Link): string {
  return JSON.stringify({ rel, type, href });
}
