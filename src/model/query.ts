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

/** A span of time, both ends included; an open end is infinite. */
export interface TimeWindow {
  readonly after: Microseconds;
  readonly before: Microseconds;
}

/** What a point must satisfy, all at once; an absent filter lets every point through. */
export interface Filters {
  /** One box, or the two parts of one that crosses the antimeridian; they never overlap. */
  readonly boxes?: readonly Box[];
  readonly circle?: Circle;
  readonly createdAt?: TimeWindow;
  readonly modifiedAt?: TimeWindow;
  /** Any of these statuses, exact. */
  readonly statuses?: readonly string[];
  readonly isProcessed?: boolean;
  /** Points that have any of these tags. */
  readonly tags?: readonly string[];
  /** Points that have all of these tags. */
  readonly tagsAll?: readonly string[];
  /** Points of any of these users; `undefined` stands for points without one. */
  readonly createdBy?: readonly (number | undefined)[];
  readonly hasImage?: boolean;
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
