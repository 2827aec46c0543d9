import type { Format } from './format.js';
import { JSON_FORMAT } from './json.js';

const MEDIA_TYPE = 'application/vnd.oai.openapi+json';

/** The OpenAPI document by the type that links of OGC API - Features give it. */
export const OPENAPI: Format = ofVersion('3.1', 'openapi');
/** The same for who reads version 3.0 alone, such as GDAL and OWSLib. */
export const OPENAPI_30: Format = ofVersion('3.0', 'openapi30');

function ofVersion(version: string, name: string): Format {
  const mediaType = `${MEDIA_TYPE};version=${version}`;
  return { ...JSON_FORMAT, name, parameter: name, mediaType, contentType: mediaType };
}
