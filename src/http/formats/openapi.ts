import { isObject } from '../../model/object.js';
import type { Format } from './format.js';
import { JSON_FORMAT } from './json.js';
import { SingleRecords } from './records.js';

const MEDIA_TYPE = 'application/vnd.oai.openapi+json';

/** The OpenAPI document by the type that links of OGC API - Features give it. */
export const OPENAPI: Format = ofVersion('3.1', 'openapi');

/** The same for who reads version 3.0 alone, such as GDAL and OWSLib. */
export const OPENAPI_30: Format = {
  ...ofVersion('3.0', 'openapi30'),
  encode(page, exchange) {
    const document: unknown = JSON.parse(Buffer.from(page.records.at(0)).toString());
    const text = JSON.stringify({ ...(inVersion30(document) as object), openapi: '3.0.3' });
    return JSON_FORMAT.encode(
      { ...page, records: new SingleRecords([Buffer.from(text)]) },
      exchange,
    );
  },
};

function ofVersion(version: string, name: string): Format {
  const mediaType = `${MEDIA_TYPE};version=${version}`;
  return { ...JSON_FORMAT, name, parameter: name, mediaType, contentType: mediaType };
}

/** A copy of a piece of a document in which what only 3.1 has is said otherwise, or not at all. */
function inVersion30(piece: unknown): unknown {
  if (Array.isArray(piece)) return piece.map(inVersion30);
  if (!isObject(piece)) return piece;
  const entries = Object.entries(piece).flatMap(([key, one]) => {
    const isList = Array.isArray(one);
    // examples in a list are those of a schema
    if (key === 'prefixItems' || (key === 'examples' && isList)) return [];
    if (key === 'const') return [['enum', [one]]];
    // `null` comes second
    if (key === 'type' && isList)
      return [
        ['type', one[0]],
        ['nullable', true],
      ];
    return [[key, inVersion30(one)]];
  });
  return Object.fromEntries(entries);
}
