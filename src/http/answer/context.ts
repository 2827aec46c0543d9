import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { TimeZone } from '../../model/time-zone.js';
import type { SharedRoom } from '../../model/turns.js';
import type { JournalReader } from '../../posts/journal.js';
import type { Uploads } from '../../posts/media/upload.js';
import type { Posts } from '../../posts/posts.js';
import type { Tokens } from '../../posts/tokens/file.js';
import type { Current } from '../../reload/current.js';
import { Durations } from '../../reload/stats.js';
import type { Site } from '../pages/site.js';
import type { Throttle } from '../request/client.js';
import type { OriginOf, OriginSettings } from '../request/origin.js';
import type { WriteHead } from './head.js';
import type { SlowLane } from './question.js';

export interface Posting {
  readonly posts: Posts;
  readonly journal: JournalReader;
  /** Open streams of accepted points on all threads: one number, which they share. */
  readonly streams: Int32Array;
  readonly maxStreams: number;
  /** Milliseconds without a point after which a stream sends a heartbeat. */
  readonly beatMs: number;
  readonly requireToken: boolean;
  /** Posts count by the address of a client without a token, else by user. */
  readonly addressThrottle: Throttle;
  readonly tokenThrottle: Throttle;
  /** Where images come in; undefined where none are taken. */
  readonly uploads: Uploads | undefined;
}

/** What views are made with, in the threads of the slow lane, too. */
export interface ViewContext {
  readonly zone: TimeZone;
  readonly site: Site;
  /** Most bytes that the records of a page may have as JSON. */
  readonly maxPageBytes: number;
}

export interface Context extends ViewContext {
  readonly logger: Logger;
  readonly stats: RequestStats;
  /** Origins whose pages may read answers; `*` for any. */
  readonly corsOrigin: readonly string[];
  /** Share of the requests that are logged. */
  readonly accessLog: number;
  readonly writeHead: WriteHead;
  /** Counts a response that was ended until the system has taken all of it. */
  readonly note: (response: ServerResponse) => void;
  /** True once no new connections are taken: answers then ask clients to close theirs. */
  readonly closing: () => boolean;
  readonly current: Current;
  readonly origin: OriginSettings;
  readonly originOf: OriginOf;
  readonly answerCacheBytes: number;
  readonly compress: boolean;
  readonly slowLane: SlowLane;
  readonly tokens: Tokens;
  /** Undefined where points are only read. */
  readonly posting: Posting | undefined;
  /** The folder or bucket of images. */
  readonly media: string | undefined;
  /** Room for bodies that are coming in, and batches that are being answered. */
  readonly bodies: SharedRoom;
  /** Milliseconds after which a batch sends the lines that it has. */
  readonly batchMs: number;
}

interface RequestCount {
  readonly route: string;
  readonly status: number;
  /** Name of a format, or `none`. */
  readonly representation: string;
  count: number;
}

/** Upper bounds of the latency buckets, in seconds. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

export type Observe = (status: number, representation: string, seconds: number) => void;

/** Counts of requests. Plain numbers: the labels of a metrics library cost more than a query. */
export class RequestStats {
  readonly latencies: Map<string, Durations> = new Map();
  cacheHits = 0;
  cacheMisses = 0;
  questions = 0;
  /** Open streams of accepted points, and the points that went to any. */
  streams = 0;
  streamed = 0;
  readonly #endsOfRoutes: RequestCount[][] = [];

  get counts(): RequestCount[] {
    return this.#endsOfRoutes.flat();
  }

  reset(): void {
    for (const ends of this.#endsOfRoutes) ends.length = 0;
    for (const durations of this.latencies.values()) durations.reset();
    this.cacheHits = 0;
    this.cacheMisses = 0;
  }

  /** Makes the counter of a route. Routes and statuses are few: nothing grows with the input. */
  route(name: string): Observe {
    const durations = this.latencies.get(name) ?? new Durations(LATENCY_BOUNDS);
    this.latencies.set(name, durations);
    const ends: RequestCount[] = [];
    this.#endsOfRoutes.push(ends);
    return (status, representation, seconds) => {
      let end = ends.find((one) => one.status === status && one.representation === representation);
      if (end === undefined) {
        end = { route: name, status, representation, count: 0 };
        ends.push(end);
      }
      end.count++;
      durations.observe(seconds);
    };
  }
}
