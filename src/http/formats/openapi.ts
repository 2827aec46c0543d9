import type { Format } from './format.js';
import { JSON_FORMAT } from './json.js';

const MEDIA_TYPE = 'application/vnd.oai.openapi+json';

/** The OpenAPI document by the type that links of OGC API - Features give it. */
export const OPENAPI: Format = {
  ...JSON_FORMAT,
  name: 'openapi',
  parameter: 'openapi',
  mediaType: MEDIA_TYPE,
  contentType: `${MEDIA_TYPE};version=3.1`,
};
