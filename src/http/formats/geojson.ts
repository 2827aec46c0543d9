import {
  AFTER_FEATURES,
  beforeFeatures,
  GEOJSON_TYPE,
  linksMember,
  listLinks,
} from './collection.js';
import { createFeatureWriter, FEATURE_ROOM } from './feature.js';
import type { Format } from './format.js';
import { writeBody } from './rewritten.js';

/** GeoJSON, as RFC 7946 has it: a list is a FeatureCollection, a point alone a Feature. */
export const GEOJSON: Format = {
  name: 'geojson',
  parameter: 'geojson',
  mediaType: GEOJSON_TYPE,
  contentType: GEOJSON_TYPE,
  headers: [],
  maxBytes: Number.POSITIVE_INFINITY,
  encode({ list, records, keys }, exchange) {
    const before =
      list === undefined ? '' : beforeFeatures(list, records.count, linksMember(listLinks(list)));
    const after = list === undefined ? '' : AFTER_FEATURES;
    const write = createFeatureWriter(keys);
    return writeBody({ before, after, records, room: FEATURE_ROOM, write }, exchange);
  },
};
