/** Addresses of the interface and the methods each takes. */
export const ROOT_PATH = '/rest/';
export const POINTS_PATH = '/rest/map_data_points/';
export const NOTIFICATIONS_PATH = '/rest/notifications/';
/** OGC API - Features; its addresses but the first have no slash at their end. */
export const OGC_PATH = '/ogc/';
export const TILES_PATH = '/tiles/';
export const OPENAPI_PATH = '/openapi.json';
export const VIEWER_PATH = '/docs/';

export const ALLOW_POINTS = 'GET, POST, HEAD, OPTIONS';
export const ALLOW_READ = 'GET, HEAD, OPTIONS';
