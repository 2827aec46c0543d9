/** Decimal degrees on WGS84: latitude within ±90, longitude within ±180. */
export type Degrees = number;

/** Metres. */
export type Metres = number;

/** Whole microseconds since 1970-01-01T00:00:00Z; exact as a double from 1684 to 2255. */
export type Microseconds = number;
