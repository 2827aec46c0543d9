import type { Format } from './format.js';
import { GEOJSON } from './geojson.js';
import { JSON_FORMAT } from './json.js';

/**
 * The representations of every address for programs, in the service's own order of preference.
 * Behind the first stands the page for people, which each address has its own of.
 */
export const FORMATS: readonly [Format, ...Format[]] = [JSON_FORMAT];

/** Those of points. */
export const POINT_FORMATS: readonly [Format, ...Format[]] = [...FORMATS, GEOJSON];
