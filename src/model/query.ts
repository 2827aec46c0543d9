import type { Degrees, Metres, Microseconds } from './units.js';

/** A rectangle of longitudes and latitudes, edges included; `west` ≤ `east`, `south` ≤ `north`. */
export interface Box {
  readonly west: Degrees;
  readonly south: Degrees;
  readonly east: Degrees;
  readonly north: Degrees;
}

/** All within `radius` of a centre, measured along the WGS84 ellipsoid, rim included. */
export interface Circle {
  readonly lat: Degrees;
  readonly lon: Degrees;
  /** Zero or more. */
  readonly radius: Metres;
}

/**
 * An area on the plane of longitude and latitude, edges included: what lies in the first ring, an
 * odd number of times where the ring crosses itself, and not inside of a further one, which is a
 * hole. The edge of a hole belongs to the area.
 */
export interface Polygon {
  /**
   * Longitude and latitude of each place of a ring in turn, as whole numbers of
   * {@link UNITS_PER_DEGREE}; the last place leads back to the first. Where the polygon crosses the
   * antimeridian its longitudes go on beyond 180.
   */
  readonly rings: readonly Float64Array[];
  /** Whether the polygon holds what lies 360 degrees further west, too: beyond the antimeridian. */
  readonly crosses: boolean;
}

/** A span of time, both ends included; an open end is infinite. */
export interface TimeWindow {
  readonly after: Microseconds;
  readonly before: Microseconds;
}

/** What a point must satisfy, all at once; an absent filter lets every point through. */
export interface Filters {
  /** One box, or the two parts of one that crosses the antimeridian; they never overlap. */
  readonly boxes?: readonly Box[] | undefined;
  readonly circle?: Circle | undefined;
  readonly polygon?: Polygon | undefined;
  readonly createdAt?: TimeWindow | undefined;
  readonly modifiedAt?: TimeWindow | undefined;
  /** Any of these statuses, exact. */
  readonly statuses?: readonly string[] | undefined;
  readonly isProcessed?: boolean | undefined;
  /** Points that have any of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Points that have all of these tags. */
  readonly tagsAll?: readonly string[] | undefined;
  /** Points of any of these users; `undefined` stands for points without one. */
  readonly createdBy?: readonly (number | undefined)[] | undefined;
  readonly hasImage?: boolean | undefined;
}

export type TimeOrdering = 'created_at' | '-created_at' | 'modified_at' | '-modified_at';

/** `distance` (nearest first) needs a circle. Ties go by id, in the direction of the ordering. */
export type Ordering = TimeOrdering | 'id' | 'distance';

export interface Query {
  readonly filters: Filters;
  readonly ordering: Ordering;
  /** From 1. */
  readonly page: number | 'last';
  /** 1 to 1000. */
  readonly pageSize: number;
}

/** What finding a page took. */
export interface QueryWork {
  /** Rows that were looked at one by one. */
  readonly looks: number;
  /** The form that the matches had, and the way in which the page was taken from them. */
  readonly form: string;
  readonly accessPath: string;
}
