/** The addresses for clients, as the router has them: `:name` stands for what is variable. */
export const ROOT_PATH = '/rest/';
export const POINTS_PATH = '/rest/map_data_points/';
export const BATCH_PATH = '/rest/map_data_points/query/';
export const POINT_PATH = '/rest/map_data_points/:id/';
export const NOTIFICATIONS_PATH = '/rest/notifications/';
export const TILE_PATH = '/tiles/:z/:x/:y.mvt';
export const TILE_SET_PATH = '/tiles/points.json';
/** OGC API - Features; its addresses but the first have no slash at their end. */
export const OGC_PATH = '/ogc/';
export const CONFORMANCE_PATH = '/ogc/conformance';
export const COLLECTIONS_PATH = '/ogc/collections';
export const COLLECTION_PATH = '/ogc/collections/points';
export const ITEMS_PATH = '/ogc/collections/points/items';
export const ITEM_PATH = '/ogc/collections/points/items/:id';
/** {@link OPENAPI_PATH} for clients of OGC that do not follow links. */
export const OGC_API_PATH = '/ogc/api';
export const CHANGES_PATH = '/changes/points';
export const EXPORT_PATH = '/export/points.:format';
/** What {@link EXPORT_PATH} may end with. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  { name: 'ndjson', mediaType: 'application/x-ndjson' },
  { name: 'geojson', mediaType: 'application/geo+json' },
  // lines, not the texts behind a byte 1e of application/geo+json-seq
  { name: 'geojsonl', mediaType: 'application/x-ndjson' },
  { name: 'csv', mediaType: 'text/csv; charset=utf-8' },
  { name: 'msgpack', mediaType: 'application/vnd.msgpack' },
  { name: 'parquet', mediaType: 'application/vnd.apache.parquet', isCompressed: true },
];
export const OPENAPI_PATH = '/openapi.json';
export const VIEWER_PATH = '/docs/';

export const ALLOW_POINTS = 'GET, POST, HEAD, OPTIONS';
export const ALLOW_READ = 'GET, HEAD, OPTIONS';

const VARIABLE = /:(\w+)/g;

/** An address as OpenAPI and TileJSON write it: `{name}` for what is variable. */
export function templateOf(path: string): string {
  return path.replaceAll(VARIABLE, '{$1}');
}

export function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(VARIABLE, '[^/]+')}$`);
}

interface ExportFormat {
  /** Ends the name of the file, too. */
  readonly name: string;
  readonly mediaType: string;
  readonly isCompressed?: boolean;
}
