import { InputError } from '../../model/quote.js';
import { POINTS_SETTINGS, PROCESS_SETTINGS } from './process-settings.js';
import {
  atLeast,
  byteSize,
  duration,
  hostList,
  oneOf,
  originList,
  pageBytes,
  type Setting,
  type SettingRow,
  tileUrl,
  wholeNumber,
} from './values.js';

const LOG_FORMATS = ['auto', 'json', 'text'];
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** What clients may ask for and how long they may take, and what is said of it. */
const CLIENT_SETTINGS: readonly SettingRow[] = [
  {
    flag: '--trust-proxy',
    help:
      'take scheme and host of the links from X-Forwarded-Proto and X-Forwarded-Host, and ' +
      'the address of a client, by which posts are counted, from X-Forwarded-For',
  },
  {
    flag: '--allowed-hosts <names>',
    fallback: '*',
    help: 'hosts that requests may name, with commas between; .example.org stands for sub-domains too',
    parse: hostList,
  },
  {
    flag: '--cors-origin <origins>',
    fallback: '*',
    help: 'origins whose pages may read answers, with commas between; * for any, none for none',
    parse: (text) => (text === 'none' ? [] : originList(text)),
  },
  {
    flag: '--answer-cache <size>',
    fallback: '64MiB',
    help: 'memory for answers that are asked for again, such as 64MiB; 0 for none',
    parse: byteSize,
  },
  {
    flag: '--max-page-bytes <size>',
    fallback: '8MiB',
    help: 'most that the records of a page may have as JSON; a page of more gets 400',
    parse: pageBytes,
  },
  {
    flag: '--max-streams <number>',
    fallback: '1024',
    help: 'streams of accepted points that may be open at once; a further one gets 503',
    parse: (text) => wholeNumber(text, 0, 100_000),
  },
  {
    flag: '--max-exports <number>',
    fallback: '256',
    help: 'exports that may be under way at once; a further one gets 503',
    parse: (text) => wholeNumber(text, 0, 100_000),
  },
  {
    flag: '--compress',
    help: 'compress answers, by br or gzip, for clients that accept it',
  },
  {
    flag: '--tile-url <template>',
    help:
      'raster tiles below the points of the map, such as ' +
      'https://tiles.example/{z}/{x}/{y}.png; an outline of land without',
    parse: tileUrl,
  },
  {
    flag: '--max-header-size <size>',
    fallback: '32KiB',
    help: 'largest request line and headers together; what is larger gets 431',
    parse: (text) => atLeast(byteSize(text), 1024, 'expected 1KiB or more, such as 32KiB'),
  },
  {
    flag: '--max-connections <number>',
    fallback: '20000',
    help:
      'connections that are held at once; a further one takes the place of an idle one, or ' +
      'is closed',
    parse: (text) => wholeNumber(text, 1, 1_000_000),
  },
  {
    flag: '--request-timeout <time>',
    fallback: '10s',
    help: 'how long a client may take to send a request',
    parse: duration,
  },
  {
    flag: '--upload-timeout <time>',
    fallback: '60s',
    help: 'how long a client may take to send a multipart form, which may hold an image',
    parse: duration,
  },
  {
    flag: '--answer-timeout <time>',
    fallback: '30s',
    help: 'how long a client may take nothing of its answer before it is cut off',
    parse: (text) => atLeast(duration(text), 1, 'expected a time above 0, such as 30s'),
  },
  {
    flag: '--max-unsent <size>',
    fallback: '256MiB',
    help: 'memory for answers that clients have not taken yet; beyond it the slowest are cut off',
    parse: (text) => atLeast(byteSize(text), 1, 'expected a size above 0, such as 256MiB'),
  },
  {
    flag: '--max-loop-delay <time>',
    fallback: '1s',
    help: 'turn requests away with 503 while the event loop is behind by more; 0 never does',
    parse: duration,
  },
  {
    flag: '--drain-delay <time>',
    fallback: '0',
    help: 'how long after a SIGTERM /health/ready answers 503 before connections are refused',
    parse: duration,
  },
  {
    flag: '--shutdown-timeout <time>',
    fallback: '10s',
    help: 'how long requests under way may take after a SIGTERM',
    parse: duration,
  },
  {
    flag: '--access-log <percent>',
    fallback: '0',
    help: 'share of the requests that are logged, a random sample; errors of the service always are',
    parse: (text) => wholeNumber(text, 0, 100) / 100,
  },
  {
    flag: '--log-format <format>',
    fallback: 'auto',
    help:
      'how lines of the log are written: json for programs, text for people, auto for text ' +
      'on a terminal',
    parse: (text) => oneOf(text, LOG_FORMATS),
  },
  {
    flag: '--log-level <level>',
    fallback: 'info',
    help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
    parse: (text) => oneOf(text, LOG_LEVELS),
  },
];

/** Every setting of `waypost serve`, in the order of its help; docs/settings.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = [
  ...POINTS_SETTINGS,
  ...PROCESS_SETTINGS,
  ...CLIENT_SETTINGS,
].map((row) => ({ ...row, environment: variableOf(row.flag) }));

/** `WAYPOST_MAX_SHRINK` of `--max-shrink <percent>`. */
function variableOf(flag: string): string {
  const [name = ''] = flag.slice(2).split(' ', 1);
  return `WAYPOST_${name.toUpperCase().replaceAll('-', '_')}`;
}

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
