import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Current } from '../../live/current.js';
import type { Uploads } from '../../media/upload.js';
import type { TimeZone } from '../../model/time-zone.js';
import type { Posts } from '../../posts/posts.js';
import type { SharedRoom } from '../../shared-room.js';
import type { Tokens } from '../../tokens/table.js';
import type { Site } from '../pages/site.js';
import type { OriginSettings } from '../request/origin.js';
import type { Throttle } from '../request/throttle.js';
import type { WriteHead } from './head-lines.js';
import type { Pace } from './pace.js';
import type { RequestStats } from './request-stats.js';

/** What accepts points, and how many of them. */
export interface Posting {
  readonly posts: Posts;
  /** Whether only holders of a token may post. */
  readonly requireToken: boolean;
  /** By the address of a client without a token, and by the user of a token. */
  readonly addressThrottle: Throttle;
  readonly tokenThrottle: Throttle;
  /** Bytes of the bodies that are coming in. */
  readonly bodies: SharedRoom;
  /** Where images come in; undefined where none are taken. */
  readonly uploads: Uploads | undefined;
}

/** What every route is made with. */
export interface Context {
  readonly current: Current;
  readonly logger: Logger;
  readonly stats: RequestStats;
  /** Where times without an offset stand. */
  readonly zone: TimeZone;
  readonly origin: OriginSettings;
  /** Origins whose pages may read answers; `*` for any. */
  readonly corsOrigin: readonly string[];
  readonly tokens: Tokens;
  /** Number of the thread that answers; 0 is the main one. */
  readonly thread: number;
  /** Bounds the bytes that repeated answers are kept in. */
  readonly answerCacheBytes: number;
  /** Bounds the bytes that the records of a page have as JSON. */
  readonly maxPageBytes: number;
  /** Whether bodies are compressed for clients that accept it. */
  readonly compress: boolean;
  /** What the pages for people have in common. */
  readonly site: Site;
  /** Folder of the images of points; none are served without. */
  readonly mediaFolder: string | undefined;
  /** Undefined where points are only read. */
  readonly posting: Posting | undefined;
  /** Share of the requests that are logged. */
  readonly accessLog: number;
  /** Writes the heads of a thread's answers: what changes by the second is made for all at once. */
  readonly writeHead: WriteHead;
  /** When the thread does what takes long. */
  readonly pace: Pace;
  /** Is told of each response that has been ended, to count what the system has not taken yet. */
  readonly note: (response: ServerResponse) => void;
  /** True once no new connections are taken: answers then ask clients to close theirs. */
  readonly closing: () => boolean;
}
