import { InputError } from './errors.js';
import { isToken } from './model/token.js';
import {
  atLeast,
  autoWorkers,
  byteSize,
  duration,
  hostList,
  list,
  MOST_AUTO_WORKERS,
  oneOf,
  pageBytes,
  publicUrl,
  tileUrl,
  wholeNumber,
} from './setting-values.js';

/** A setting of `waypost serve`: one row makes the flag, the environment variable and the help. */
export interface Setting {
  /** As commander writes it: `--port <number>`. */
  readonly flag: string;
  readonly environment: string;
  readonly help: string;
  readonly required?: boolean;
  readonly fallback?: string;
  /**
   * Turns the text into the value; throws an Error that names the rule. Texts stay as they are
   * without.
   */
  readonly parse?: (text: string) => unknown;
}

/** The settings, read. */
export interface ServeSettings {
  readonly snapshot: string;
  readonly notifications?: string;
  readonly tokens?: string;
  /** Path, or `none`; beside the snapshot where absent. */
  readonly journal?: string;
  readonly requireToken?: boolean;
  /** Posts a minute; 0 for any number. */
  readonly postsPerAddress: number;
  readonly postsPerToken: number;
  readonly media?: string;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  readonly host: string;
  readonly port: number;
  readonly listenTimeout: number;
  readonly publicUrl?: string;
  readonly timeZone: string;
  readonly maxInvalid: number;
  /** Share of the points: 0.5 for half of them. */
  readonly maxShrink: number;
  readonly acceptPage?: boolean;
  readonly allowEmpty?: boolean;
  readonly watch: 'events' | 'poll' | 'off';
  /** Times are in milliseconds. */
  readonly pollInterval: number;
  readonly settle: number;
  readonly workers: number;
  readonly adminToken?: string;
  readonly operationsHost: string;
  readonly operationsPort?: number;
  readonly trustProxy: boolean;
  readonly allowedHosts: readonly string[];
  readonly corsOrigin: readonly string[];
  /** Sizes are in bytes. */
  readonly answerCache: number;
  readonly maxPageBytes: number;
  readonly compress: boolean;
  readonly tileUrl?: string;
  readonly maxHeaderSize: number;
  readonly maxConnections: number;
  readonly requestTimeout: number;
  readonly uploadTimeout: number;
  readonly answerTimeout: number;
  readonly maxUnsent: number;
  readonly maxLoopDelay: number;
  readonly shutdownTimeout: number;
  /** Share of the requests that are logged. */
  readonly accessLog: number;
  readonly logLevel: string;
}

/** Posts a minute. */
const MOST_POSTS = 60_000;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Beyond it a decoder holds gigabytes. */
const MOST_IMAGE_PIXELS = 250_000_000;

/** Every setting of `waypost serve`, in the order of its help; README.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = [
  {
    flag: '--snapshot <file>',
    environment: 'WAYPOST_SNAPSHOT',
    help: 'snapshot file to serve, or a folder or pattern such as folder/*.waypost whose newest whole file is served: native, NDJSON, JSON, GeoJSON, CSV or MessagePack, all but native also gzipped',
    required: true,
  },
  {
    flag: '--notifications <file>',
    environment: 'WAYPOST_NOTIFICATIONS',
    help: 'notifications to serve beside those of a native snapshot: NDJSON or JSON',
  },
  {
    flag: '--tokens <file>',
    environment: 'WAYPOST_TOKENS',
    help: 'file of access tokens, made by waypost token add; without it every token is unknown',
  },
  {
    flag: '--media <folder>',
    environment: 'WAYPOST_MEDIA',
    help: 'folder of the images of points, served under /media/; without it there are none',
  },
  {
    flag: '--max-image-bytes <size>',
    environment: 'WAYPOST_MAX_IMAGE_BYTES',
    fallback: '20MiB',
    help: 'most that an image may have as it is sent; one of more gets 413',
    parse: (text) => atLeast(byteSize(text), 1, 'expected a size above 0, such as 20MiB'),
  },
  {
    flag: '--max-image-pixels <number>',
    environment: 'WAYPOST_MAX_IMAGE_PIXELS',
    fallback: '64000000',
    help: 'most pixels that an image may have, width times height; one of more gets 400',
    parse: (text) => wholeNumber(text, 1, MOST_IMAGE_PIXELS),
  },
  {
    flag: '--journal <file>',
    environment: 'WAYPOST_JOURNAL',
    help: 'file that keeps accepted points, none to only read; beside the snapshot and called like it with .journal behind when absent',
  },
  {
    flag: '--require-token',
    environment: 'WAYPOST_REQUIRE_TOKEN',
    help: 'accept points only from holders of a token',
  },
  {
    flag: '--posts-per-address <number>',
    environment: 'WAYPOST_POSTS_PER_ADDRESS',
    fallback: '60',
    help: 'points a minute that are accepted from one address without a token; 0 for any number',
    parse: (text) => wholeNumber(text, 0, MOST_POSTS),
  },
  {
    flag: '--posts-per-token <number>',
    environment: 'WAYPOST_POSTS_PER_TOKEN',
    fallback: '600',
    help: 'points a minute that are accepted from one user; 0 for any number',
    parse: (text) => wholeNumber(text, 0, MOST_POSTS),
  },
  {
    flag: '--host <address>',
    environment: 'WAYPOST_HOST',
    fallback: '127.0.0.1',
    help: 'address to listen on, or several with commas between; 0.0.0.0 or :: for all',
  },
  {
    flag: '--port <number>',
    environment: 'WAYPOST_PORT',
    fallback: '8080',
    help: 'port to listen on; 0 takes any free one',
    parse: (text) => wholeNumber(text, 0, 65_535),
  },
  {
    flag: '--listen-timeout <time>',
    environment: 'WAYPOST_LISTEN_TIMEOUT',
    fallback: '15s',
    help: 'how long to wait for a port that is taken, such as by a process that is still ending; 0 gives up at once',
    parse: duration,
  },
  {
    flag: '--public-url <url>',
    environment: 'WAYPOST_PUBLIC_URL',
    help: 'what links in answers begin with, instead of the Host of the request',
    parse: publicUrl,
  },
  {
    flag: '--time-zone <name>',
    environment: 'WAYPOST_TIME_ZONE',
    fallback: 'UTC',
    help: 'where times in queries stand that name no offset, such as Europe/Helsinki',
  },
  {
    flag: '--max-invalid <number>',
    environment: 'WAYPOST_MAX_INVALID',
    fallback: '0',
    help: 'invalid records to leave out before a snapshot is refused; native files are never mended',
    parse: (text) => wholeNumber(text, 0, Number.MAX_SAFE_INTEGER),
  },
  {
    flag: '--max-shrink <percent>',
    environment: 'WAYPOST_MAX_SHRINK',
    fallback: '50',
    help: 'hold back a new snapshot that lost more than this share of the points; 100 takes any',
    parse: (text) => wholeNumber(text, 0, 100) / 100,
  },
  {
    flag: '--accept-page',
    environment: 'WAYPOST_ACCEPT_PAGE',
    help: 'serve a page of a longer list as if it were all of it',
  },
  {
    flag: '--allow-empty',
    environment: 'WAYPOST_ALLOW_EMPTY',
    help: 'serve a snapshot without points',
  },
  {
    flag: '--watch <mode>',
    environment: 'WAYPOST_WATCH',
    fallback: 'events',
    help: 'how to learn of a new snapshot: events, poll (for network file systems) or off',
    parse: (text) => oneOf(text, ['events', 'poll', 'off']),
  },
  {
    flag: '--poll-interval <time>',
    environment: 'WAYPOST_POLL_INTERVAL',
    fallback: '5s',
    help: 'how often --watch poll looks',
    parse: duration,
  },
  {
    flag: '--settle <time>',
    environment: 'WAYPOST_SETTLE',
    fallback: '500ms',
    help: 'how long a new file must hold still before it is read',
    parse: duration,
  },
  {
    flag: '--workers <number>',
    environment: 'WAYPOST_WORKERS',
    fallback: 'auto',
    help: `threads that answer, all from the same memory; auto for one a core, ${MOST_AUTO_WORKERS} at most`,
    parse: (text) => (text === 'auto' ? autoWorkers() : wholeNumber(text, 1, 128)),
  },
  {
    flag: '--admin-token <token>',
    environment: 'WAYPOST_ADMIN_TOKEN',
    help: 'opens POST /admin/reload to whoever sends it, as a token of --tokens for admins does; without any there is no such address',
    parse: (text) => {
      if (isToken(text)) return text;
      throw new InputError('expected a token without blanks');
    },
  },
  {
    flag: '--operations-host <address>',
    environment: 'WAYPOST_OPERATIONS_HOST',
    fallback: '127.0.0.1',
    help: 'address for operators, where --operations-port is given',
  },
  {
    flag: '--operations-port <number>',
    environment: 'WAYPOST_OPERATIONS_PORT',
    help: 'port for health, metrics and reload, which are then nowhere else; 0 takes any free one',
    parse: (text) => wholeNumber(text, 0, 65_535),
  },
  {
    flag: '--trust-proxy',
    environment: 'WAYPOST_TRUST_PROXY',
    help: 'take scheme and host of the links from X-Forwarded-Proto and X-Forwarded-Host',
  },
  {
    flag: '--allowed-hosts <names>',
    environment: 'WAYPOST_ALLOWED_HOSTS',
    fallback: '*',
    help: 'hosts that requests may name, with commas between; .example.org stands for sub-domains too',
    parse: hostList,
  },
  {
    flag: '--cors-origin <origins>',
    environment: 'WAYPOST_CORS_ORIGIN',
    fallback: '*',
    help: 'origins whose pages may read answers, with commas between; * for any, none for none',
    parse: (text) => (text === 'none' ? [] : list(text)),
  },
  {
    flag: '--answer-cache <size>',
    environment: 'WAYPOST_ANSWER_CACHE',
    fallback: '64MiB',
    help: 'memory for answers that are asked for again, such as 64MiB; 0 for none',
    parse: byteSize,
  },
  {
    flag: '--max-page-bytes <size>',
    environment: 'WAYPOST_MAX_PAGE_BYTES',
    fallback: '8MiB',
    help: 'most that the records of a page may have as JSON; a page of more gets 400',
    parse: pageBytes,
  },
  {
    flag: '--compress',
    environment: 'WAYPOST_COMPRESS',
    help: 'compress answers, by br or gzip, for clients that accept it',
  },
  {
    flag: '--tile-url <template>',
    environment: 'WAYPOST_TILE_URL',
    help: 'raster tiles below the points of the map, such as https://tiles.example/{z}/{x}/{y}.png; an outline of land without',
    parse: tileUrl,
  },
  {
    flag: '--max-header-size <size>',
    environment: 'WAYPOST_MAX_HEADER_SIZE',
    fallback: '32KiB',
    help: 'largest request line and headers together; what is larger gets 431',
    parse: byteSize,
  },
  {
    flag: '--max-connections <number>',
    environment: 'WAYPOST_MAX_CONNECTIONS',
    fallback: '20000',
    help: 'connections that are held at once; a further one takes the place of an idle one, or is closed',
    parse: (text) => wholeNumber(text, 1, 1_000_000),
  },
  {
    flag: '--request-timeout <time>',
    environment: 'WAYPOST_REQUEST_TIMEOUT',
    fallback: '10s',
    help: 'how long a client may take to send a request',
    parse: duration,
  },
  {
    flag: '--upload-timeout <time>',
    environment: 'WAYPOST_UPLOAD_TIMEOUT',
    fallback: '60s',
    help: 'how long a client may take to send a multipart form, which may hold an image',
    parse: duration,
  },
  {
    flag: '--answer-timeout <time>',
    environment: 'WAYPOST_ANSWER_TIMEOUT',
    fallback: '30s',
    help: 'how long a client may take nothing of its answer before it is cut off',
    parse: (text) => atLeast(duration(text), 1, 'expected a time above 0, such as 30s'),
  },
  {
    flag: '--max-unsent <size>',
    environment: 'WAYPOST_MAX_UNSENT',
    fallback: '256MiB',
    help: 'memory for answers that clients have not taken yet; beyond it the slowest are cut off',
    parse: (text) => atLeast(byteSize(text), 1, 'expected a size above 0, such as 256MiB'),
  },
  {
    flag: '--max-loop-delay <time>',
    environment: 'WAYPOST_MAX_LOOP_DELAY',
    fallback: '1s',
    help: 'turn requests away with 503 while the event loop is behind by more; 0 never does',
    parse: duration,
  },
  {
    flag: '--shutdown-timeout <time>',
    environment: 'WAYPOST_SHUTDOWN_TIMEOUT',
    fallback: '10s',
    help: 'how long requests under way may take after a SIGTERM',
    parse: duration,
  },
  {
    flag: '--access-log <percent>',
    environment: 'WAYPOST_ACCESS_LOG',
    fallback: '0',
    help: 'share of the requests that are logged, a random sample; errors of the service always are',
    parse: (text) => wholeNumber(text, 0, 100) / 100,
  },
  {
    flag: '--log-level <level>',
    environment: 'WAYPOST_LOG_LEVEL',
    fallback: 'info',
    help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
    parse: (text) => oneOf(text, LOG_LEVELS),
  },
];

/**
 * The environment as far as it sets something: an empty variable counts as absent, and one for a
 * flag that takes no value must say `true` or `false`. Throws an InputError that names the
 * variable.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = { ...environment };
  for (const { environment: name, flag } of SERVE_SETTINGS) {
    const value = read[name];
    if (value === undefined) continue;
    const isSwitch = !flag.includes('<');
    if (value === '' || (isSwitch && /^(false|no|0)$/i.test(value))) delete read[name];
    else if (isSwitch && !/^(true|yes|1)$/i.test(value)) {
      throw new InputError(`${name}: expected true or false, got ${JSON.stringify(value)}`);
    }
  }
  return read;
}
