import { createFeatureWriter, FEATURE_ROOM } from './feature.js';
import type { Format, ListFacts } from './format.js';
import { selfLink } from './links.js';
import { writeBody } from './rewritten.js';

const MEDIA_TYPE = 'application/geo+json';

/** GeoJSON, as RFC 7946 has it: a list is a FeatureCollection, a point alone a Feature. */
export const GEOJSON: Format = {
  name: 'geojson',
  parameter: 'geojson',
  mediaType: MEDIA_TYPE,
  contentType: MEDIA_TYPE,
  headers: [],
  maxBytes: Number.POSITIVE_INFINITY,
  encode({ list, records, keys }, exchange) {
    const before = list === undefined ? '' : beforeFeatures(list, records.count);
    const after = list === undefined ? '' : ']}';
    const write = createFeatureWriter(keys);
    return writeBody({ before, after, records, room: FEATURE_ROOM, write }, exchange);
  },
};

/** A collection up to its first Feature. */
function beforeFeatures({ count, links, base, pairs }: ListFacts, returned: number): string {
  const all = [link('self', selfLink(base, pairs))];
  if (links.next !== null) all.push(link('next', links.next));
  if (links.previous !== null) all.push(link('prev', links.previous));
  const numbers = `"numberMatched":${count},"numberReturned":${returned}`;
  return `{"type":"FeatureCollection",${numbers},"links":[${all.join(',')}],"features":[`;
}

/** A link whose address is ASCII without quotes or backslashes. */
function link(rel: string, href: string): string {
  return `{"rel":"${rel}","type":"${MEDIA_TYPE}","href":"${href}"}`;
}
