import type { Format } from './format.js';

/** A vector tile, as `tiles/` has made it. */
export const MVT: Format = {
  name: 'mvt',
  parameter: 'mvt',
  mediaType: 'application/vnd.mapbox-vector-tile',
  contentType: 'application/vnd.mapbox-vector-tile',
  headers: [],
  maxBytes: Number.POSITIVE_INFINITY,
  encode({ records }, { memory }) {
    const buffer = memory.take(records.size);
    records.copy(buffer, 0);
    return buffer;
  },
};

/** Tiles by the two types that clients ask for. */
export const TILE_FORMATS: readonly Format[] = [
  MVT,
  { ...MVT, mediaType: 'application/x-protobuf', contentType: 'application/x-protobuf' },
];
