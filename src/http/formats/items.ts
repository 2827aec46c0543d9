import { AFTER_FEATURES, beforeFeatures, linksMember, listLinks } from './collection.js';
import { createFeatureWriter, FEATURE_ROOM } from './feature.js';
import type { Format } from './format.js';
import { GEOJSON } from './geojson.js';
import { writeBody } from './rewritten.js';

/** GeoJSON with the links that OGC API - Features wants. */
const ITEMS: Format = {
  ...GEOJSON,
  sizeParameter: 'limit',
  // the time when an answer was made is in it
  isWeak: true,
  encode({ list, records, keys, related = [] }, exchange) {
    const own = list === undefined ? [] : listLinks(list);
    const links = linksMember([...own, ...related]);
    const inFeature = list === undefined ? `,${links}` : '';
    const before =
      list === undefined ? '' : beforeFeatures(list, records.count, links, timeStamp());
    const after = list === undefined ? '' : AFTER_FEATURES;
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

function timeStamp(): string {
  return `,"timeStamp":"${new Date().toISOString()}"`;
}
