import { InputError } from '../../model/quote.js';
import { isToken } from '../../model/units.js';
import {
  atLeast,
  autoWorkers,
  byteSize,
  duration,
  hostList,
  MOST_AUTO_WORKERS,
  oneOf,
  originList,
  publicUrl,
  tileUrl,
  wholeNumber,
} from './values.js';

/** A setting of `waypost serve`: one row makes the flag, the environment variable and the help. */
export interface Setting {
  /** As commander writes it: `--port <number>`. */
  readonly flag: string;
  /** `WAYPOST_PORT` of `--port`. */
  readonly environment: string;
  readonly help: string;
  readonly required: boolean;
  readonly fallback: string | undefined;
  /** Throws an Error that names the rule. Texts stay as they are without. */
  readonly parse: Parse | undefined;
}

type Parse = (text: string) => unknown;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Each flag with what its value is, and its default; below it what it does. */
const TABLE = `
--snapshot <file> required
  snapshot file to serve, a folder or pattern such as folder/*.waypost whose newest whole file is
  served, or an address, https://… or s3://…: native, NDJSON, JSON, GeoJSON, CSV or MessagePack, all
  but native also gzipped, or Parquet
--downloads <folder>
  where a snapshot from an address is downloaded to, and removed once it is loaded; the folder of
  --journal, else the one for temporary files, where absent
--notifications <file>
  notifications to serve beside those of a native snapshot: NDJSON or JSON
--tokens <file>
  file of access tokens, made by waypost token add; without it every token is unknown
--media <place>
  folder, or s3://bucket/prefix, of the images of points, served under /media/; without it there are
  none
--max-image-bytes <size> = 20MiB
  most that an image may have as it is sent; one of more gets 413
--max-image-pixels <number> = 64000000
  most pixels that an image may have, width times height, and a PNG 40 million; one of more gets 400
--image-timeout <time> = 10s
  how long an image may take to be decoded; one that takes longer gets 400
--journal <file>
  file that keeps accepted points, postgres://user@host/database for one that several instances
  share, or none to only read; beside the snapshot and called like it with .journal behind when
  absent
--journal-wait <time> = 30s
  how long a start waits for a journal that cannot be read or reached
--journal-timeout <time> = 10s
  how long a database may take to confirm accepted points before they get 503
--journal-any-fs
  take a journal on NFS, SMB or FUSE, too, whose locks and flushes may not hold what they promise
--require-token
  accept points only from holders of a token
--posts-per-address <number> = 60
  points a minute that are accepted from one address without a token; 0 for any number
--posts-per-token <number> = 600
  points a minute that are accepted from one user; 0 for any number
--host <address> = 127.0.0.1
  address to listen on, or several with commas between; 0.0.0.0 or :: for all
--port <number> = 8080
  port to listen on; 0 takes any free one
--listen-timeout <time> = 15s
  how long to wait for a port that is taken, such as by a process that is still ending; 0 gives up
  at once
--public-url <url>
  what links in answers begin with, instead of the Host of the request
--time-zone <name> = UTC
  where times stand that name no offset, in queries and in snapshots, such as Europe/Helsinki
--max-invalid <number> = 0
  invalid records to leave out before a snapshot is refused; native files are never mended
--max-shrink <percent> = 50
  hold back a new snapshot that lost more than this share of the points; 100 takes any
--accept-page
  serve a page of a longer list as if it were all of it
--allow-empty
  serve a snapshot without points
--watch <mode> = events
  how to learn of a new snapshot: events, poll (for network file systems) or off
--poll-interval <time> = 5s
  how often --watch poll looks, and how often an address is asked
--settle <time> = 500ms
  how long a new file must hold still before it is read
--warm-up <time> = 500ms
  how long each thread asks itself questions before it takes those of clients; 0s for not at all
--workers <number> = auto
  threads that answer, all from the same memory; auto for one a core, ${MOST_AUTO_WORKERS} at most
--admin-token <token>
  opens POST /admin/reload to whoever sends it, as a token of --tokens for admins does; without any
  there is no such address
--operations-host <address> = 127.0.0.1
  address for operators, where --operations-port is given
--operations-port <number>
  port for health, metrics and reload, which are then nowhere else; 0 takes any free one
--trust-proxy
  take scheme and host of the links from X-Forwarded-Proto and X-Forwarded-Host, and the address of
  a client, by which posts are counted, from X-Forwarded-For
--allowed-hosts <names> = *
  hosts that requests may name, with commas between; .example.org stands for sub-domains too
--cors-origin <origins> = *
  origins whose pages may read answers, with commas between; * for any, none for none
--answer-cache <size> = 64MiB
  memory for answers that are asked for again, such as 64MiB; 0 for none
--max-page-bytes <size> = 8MiB
  most that the records of a page may have as JSON; a page of more gets 400
--max-streams <number> = 1024
  streams of accepted points that may be open at once; a further one gets 503
--max-exports <number> = 256
  exports that may be under way at once; a further one gets 503
--compress
  compress answers, by br or gzip, for clients that accept it
--tile-url <template>
  raster tiles below the points of the map, such as https://tiles.example/{z}/{x}/{y}.png; an
  outline of land without
--max-header-size <size> = 32KiB
  largest request line and headers together; what is larger gets 431
--max-connections <number> = 20000
  connections that are held at once; a further one takes the place of an idle one, or is closed
--request-timeout <time> = 10s
  how long a client may take to send a request
--upload-timeout <time> = 60s
  how long a client may take to send a multipart form, which may hold an image
--answer-timeout <time> = 30s
  how long a client may take nothing of its answer before it is cut off
--max-unsent <size> = 256MiB
  memory for answers that clients have not taken yet; beyond it the slowest are cut off
--max-loop-delay <time> = 1s
  turn requests away with 503 while the event loop is behind by more; 0 never does
--drain-delay <time> = 0
  how long after a SIGTERM /health/ready answers 503 before connections are refused
--shutdown-timeout <time> = 10s
  how long requests under way may take after a SIGTERM
--access-log <percent> = 0
  share of the requests that are logged, a random sample; errors of the service always are
--log-format <format> = auto
  how lines of the log are written: json for programs, text for people, auto for text on a terminal
--log-level <level> = info
  least level that is logged: ${LOG_LEVELS.join(', ')}
`;

/** How values are read, by what the table calls them. */
const BY_KIND: Readonly<Record<string, Parse>> = {
  '<time>': duration,
  '<size>': byteSize,
  '<percent>': (text) => wholeNumber(text, 0, 100) / 100,
};

const number =
  (least: number, most: number): Parse =>
  (text) =>
    wholeNumber(text, least, most);
const choice =
  (...choices: string[]): Parse =>
  (text) =>
    oneOf(text, choices);

/** How the values of some flags are read, which have rules of their own. */
const BY_FLAG: Readonly<Record<string, Parse>> = {
  '--max-image-bytes': atLeast(1, 'expected a size above 0, such as 20MiB', byteSize),
  // beyond it a decoder holds gigabytes
  '--max-image-pixels': number(1, 250_000_000),
  '--image-timeout': atLeast(1, 'expected a time above 0, such as 10s', duration),
  '--journal-timeout': atLeast(100, 'expected a time of 100ms or more, such as 10s', duration),
  '--posts-per-address': number(0, 60_000),
  '--posts-per-token': number(0, 60_000),
  '--port': number(0, 65_535),
  '--public-url': publicUrl,
  '--max-invalid': number(0, Number.MAX_SAFE_INTEGER),
  '--watch': choice('events', 'poll', 'off'),
  '--poll-interval': atLeast(10, 'expected a time of 10ms or more, such as 5s', duration),
  '--workers': (text) => (text === 'auto' ? autoWorkers() : wholeNumber(text, 1, 128)),
  '--admin-token': (text) => {
    if (isToken(text)) return text;
    throw new InputError('expected a token without blanks');
  },
  '--operations-port': number(0, 65_535),
  '--allowed-hosts': hostList,
  '--cors-origin': (text) => (text === 'none' ? [] : originList(text)),
  '--max-page-bytes': atLeast(
    256 * 1024,
    'expected 256KiB or more, since a single record may have that',
    byteSize,
  ),
  '--max-streams': number(0, 100_000),
  '--max-exports': number(0, 100_000),
  '--tile-url': tileUrl,
  '--max-header-size': atLeast(1024, 'expected 1KiB or more, such as 32KiB', byteSize),
  '--max-connections': number(1, 1_000_000),
  '--answer-timeout': atLeast(1, 'expected a time above 0, such as 30s', duration),
  '--max-unsent': atLeast(1, 'expected a size above 0, such as 256MiB', byteSize),
  '--log-format': choice('auto', 'json', 'text'),
  '--log-level': choice(...LOG_LEVELS),
};

const ROW = /^((--\S+)(?: (<\w+>))?)( required)?(?: = (\S+))?\n(.*)$/s;

/** Every setting of `waypost serve`, in the order of its help; docs/settings.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = TABLE.trim()
  .split(/\n(?=--)/)
  .map((row) => {
    const [, flag = '', name = '', kind = '', required, fallback, help = ''] = ROW.exec(row)!;
    return {
      flag,
      environment: `WAYPOST_${name.slice(2).toUpperCase().replaceAll('-', '_')}`,
      help: help.trim().replaceAll(/\n\s*/g, ' '),
      required: required !== undefined,
      fallback,
      parse: BY_FLAG[name] ?? BY_KIND[kind],
    };
  });

/** What Kubernetes tells of a Service whose name begins with `waypost`. */
const OF_A_SERVICE =
  /^WAYPOST_(?:[A-Z\d_]+_)?(?:SERVICE_(?:HOST|PORT(?:_[A-Z\d_]+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?)$/;

/** Such a variable that may have the name of a setting: `WAYPOST_PORT=tcp://10.0.0.1:80`. */
function isPortOfService(name: string, value: string | undefined): boolean {
  return /^WAYPOST_(?:[A-Z\d_]+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value ?? '');
}

/**
 * The environment as far as it sets something: an empty variable counts as absent, so does what
 * Kubernetes tells of a Service, and one for a flag that takes no value must say `true` or `false`.
 * Throws an InputError that names the variable.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = { ...environment };
  for (const { environment: name, flag } of SERVE_SETTINGS) {
    const value = read[name];
    if (value === undefined) continue;
    const isSwitch = !flag.includes('<');
    const isAbsent = value === '' || isPortOfService(name, value);
    if (isAbsent || (isSwitch && /^(false|no|0)$/i.test(value))) delete read[name];
    else if (isSwitch && !/^(true|yes|1)$/i.test(value)) {
      throw new InputError(`${name}: expected true or false, got ${JSON.stringify(value)}`);
    }
  }
  return read;
}

export interface StrangeVariable {
  readonly variable: string;
  /** The setting whose name is most like it; absent where it is Kubernetes' own. */
  readonly nearest?: string;
}

/** The variables that their author may have meant to set something. */
export function strangeVariables(environment: NodeJS.ProcessEnv): StrangeVariable[] {
  const known = SERVE_SETTINGS.map((setting) => setting.environment);
  return Object.entries(environment).flatMap(([variable, value]): StrangeVariable[] => {
    const isKnown = known.includes(variable);
    if (isPortOfService(variable, value)) return isKnown ? [{ variable }] : [];
    if (isKnown || !variable.startsWith('WAYPOST_') || OF_A_SERVICE.test(variable)) return [];
    const distances = known.map((name) => distance(variable, name));
    return [{ variable, nearest: known[distances.indexOf(Math.min(...distances))]! }];
  });
}

/** How many letters must be put in, taken out or changed to make one text the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const changed = row[j]! + (letter === to[j] ? 0 : 1);
      next.push(Math.min(changed, row[j + 1]! + 1, next[j]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
