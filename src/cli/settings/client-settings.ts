import {
  atLeast,
  byteSize,
  duration,
  hostList,
  oneOf,
  originList,
  pageBytes,
  type SettingRow,
  tileUrl,
  wholeNumber,
} from './values.js';

const LOG_FORMATS = ['auto', 'json', 'text'];
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** What clients may ask for and how long they may take, and what is said of it. */
export const CLIENT_SETTINGS: readonly SettingRow[] = [
  {
    flag: '--trust-proxy',
    help: 'take scheme and host of the links from X-Forwarded-Proto and X-Forwarded-Host, and the address of a client, by which posts are counted, from X-Forwarded-For',
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
    help: 'raster tiles below the points of the map, such as https://tiles.example/{z}/{x}/{y}.png; an outline of land without',
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
    help: 'connections that are held at once; a further one takes the place of an idle one, or is closed',
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
    help: 'how lines of the log are written: json for programs, text for people, auto for text on a terminal',
    parse: (text) => oneOf(text, LOG_FORMATS),
  },
  {
    flag: '--log-level <level>',
    fallback: 'info',
    help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
    parse: (text) => oneOf(text, LOG_LEVELS),
  },
];
