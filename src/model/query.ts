import type { Degrees, Metres, Microseconds } from './units.js';

/** A rectangle of longitudes and latitudes, edges included; `west` ≤ `east`, `south` ≤ `north`. */
export interface Box {
  readonly west: Degrees;
  readonly south: Degrees;
  readonly east: Degrees;
  readonly north: Degrees;
}

/** What two boxes share; `west` > `east` or `south` > `north` where that is nothing. */
export function sectionOf(a: Box, b: Box): Box {
  return {
    west: Math.max(a.west, b.west),
    south: Math.max(a.south, b.south),
    east: Math.min(a.east, b.east),
    north: Math.min(a.north, b.north),
  };
}

/** All points within `radius` on the WGS84 ellipsoid, rim included. */
export interface Circle {
  readonly lat: Degrees;
  readonly lon: Degrees;
  /** 0 or more. */
  readonly radius: Metres;
}

/**
 * An area on the plane of longitude and latitude: the first ring, by the even-odd rule, without the
 * further rings, which are holes. All edges belong to it.
 */
export interface Polygon {
  /**
   * Longitude and latitude of a ring's vertices in turn, in {@link UNITS_PER_DEGREE}, not closed.
   * Longitudes go on beyond 180 where the polygon crosses the antimeridian.
   */
  readonly rings: readonly Float64Array[];
  /** Whether it crosses the antimeridian: it also holds the rings moved 360 degrees to the west. */
  readonly crosses: boolean;
}

/** A span of time, both ends included; an open end is infinite. */
export interface TimeWindow {
  readonly after: Microseconds;
  readonly before: Microseconds;
}

/** What a point must satisfy; an absent filter takes all points. */
export interface Filters {
  /** One box, or the two parts of one that crosses the antimeridian; they never overlap. */
  readonly boxes?: readonly Box[] | undefined;
  readonly circle?: Circle | undefined;
  readonly polygon?: Polygon | undefined;
  readonly createdAt?: TimeWindow | undefined;
  readonly modifiedAt?: TimeWindow | undefined;
  /** Points with any of these statuses. */
  readonly statuses?: readonly string[] | undefined;
  readonly isProcessed?: boolean | undefined;
  /** Points with any of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Points with all of these tags. */
  readonly tagsAll?: readonly string[] | undefined;
  /** Points of any of these users; `undefined` stands for points without one. */
  readonly createdBy?: readonly (number | undefined)[] | undefined;
  readonly hasImage?: boolean | undefined;
}

export type TimeOrdering = 'created_at' | '-created_at' | 'modified_at' | '-modified_at';

/** `distance`, nearest first, needs a circle. Ties go by id, in the direction of the ordering. */
export type Ordering = TimeOrdering | 'id' | 'distance';

export interface Query {
  readonly filters: Filters;
  readonly ordering: Ordering;
  /** From 1. */
  readonly page: number | 'last';
  /** 1 to `MAX_PAGE_ROWS`. */
  readonly pageSize: number;
}

/** What finding a page took. */
export interface QueryWork {
  readonly looks: number;
  readonly form: string;
  readonly accessPath: string;
}
