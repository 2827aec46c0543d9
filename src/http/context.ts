import type { Current } from '../live/generation.js';
import type { TimeZone } from '../model/time-zone.js';

/** What every route is made with. */
export interface Context {
  readonly current: Current;
  /** Where times without an offset stand. */
  readonly zone: TimeZone;
  /** Scheme, authority and path prefix of the links in answers; from the request when undefined. */
  readonly publicUrl: string | undefined;
  /** User of each known token, by {@link tokenKey}. */
  readonly tokens: ReadonlyMap<string, number>;
  /** Bounds the bytes that repeated answers are kept in. */
  readonly answerCacheBytes: number;
}
