/** Decimal degrees on WGS84: latitude within ±90, longitude within ±180. */
export type Degrees = number;

/** Metres. */
export type Metres = number;

/** Whole microseconds since 1970-01-01T00:00:00Z; exact as a double from 1684 to 2255. */
export type Microseconds = number;

/** Coordinates have 8 decimals at most, so that they are whole numbers of the last of these. */
export const UNITS_PER_DEGREE = 1e8;
