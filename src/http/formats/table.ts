import type { Format } from './format.js';
import { GEOJSON } from './geojson.js';
import { HTML } from './html.js';
import { JSON_FORMAT } from './json.js';

/** The representations of every address, in the service's own order of preference. */
export const FORMATS: readonly Format[] = [JSON_FORMAT, HTML];

/** Those of points. */
export const POINT_FORMATS: readonly Format[] = [...FORMATS, GEOJSON];
