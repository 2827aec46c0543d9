import { InputError } from '../../model/quote.js';
import { isToken } from '../../model/units.js';
import {
  atLeast,
  autoWorkers,
  byteSize,
  duration,
  MOST_AUTO_WORKERS,
  oneOf,
  publicUrl,
  type SettingRow,
  wholeNumber,
} from './values.js';

/** Posts a minute. */
const MOST_POSTS = 60_000;

/** Beyond it a decoder holds gigabytes. */
const MOST_IMAGE_PIXELS = 250_000_000;

export const POINTS_SETTINGS: readonly SettingRow[] = [
  {
    flag: '--snapshot <file>',
    help:
      'snapshot file to serve, a folder or pattern such as folder/*.waypost whose newest ' +
      'whole file is served, or an address, https://… or s3://…: native, NDJSON, JSON, ' +
      'GeoJSON, CSV or MessagePack, all but native also gzipped, or Parquet',
    required: true,
  },
  {
    flag: '--downloads <folder>',
    help:
      'where a snapshot from an address is downloaded to, and removed once it is loaded; the ' +
      'folder of --journal, else the one for temporary files, where absent',
  },
  {
    flag: '--notifications <file>',
    help: 'notifications to serve beside those of a native snapshot: NDJSON or JSON',
  },
  {
    flag: '--tokens <file>',
    help: 'file of access tokens, made by waypost token add; without it every token is unknown',
  },
  {
    flag: '--media <place>',
    help:
      'folder, or s3://bucket/prefix, of the images of points, served under /media/; without ' +
      'it there are none',
  },
  {
    flag: '--max-image-bytes <size>',
    fallback: '20MiB',
    help: 'most that an image may have as it is sent; one of more gets 413',
    parse: (text) => atLeast(byteSize(text), 1, 'expected a size above 0, such as 20MiB'),
  },
  {
    flag: '--max-image-pixels <number>',
    fallback: '64000000',
    help:
      'most pixels that an image may have, width times height, and a PNG 40 million; one of ' +
      'more gets 400',
    parse: (text) => wholeNumber(text, 1, MOST_IMAGE_PIXELS),
  },
  {
    flag: '--image-timeout <time>',
    fallback: '10s',
    help: 'how long an image may take to be decoded; one that takes longer gets 400',
    parse: (text) => atLeast(duration(text), 1, 'expected a time above 0, such as 10s'),
  },
  {
    flag: '--journal <file>',
    help:
      'file that keeps accepted points, postgres://user@host/database for one that several ' +
      'instances share, or none to only read; beside the snapshot and called like it with ' +
      '.journal behind when absent',
  },
  {
    flag: '--journal-wait <time>',
    fallback: '30s',
    help: 'how long a start waits for a journal that cannot be read or reached',
    parse: duration,
  },
  {
    flag: '--journal-timeout <time>',
    fallback: '10s',
    help: 'how long a database may take to confirm accepted points before they get 503',
    parse: (text) => atLeast(duration(text), 100, 'expected a time of 100ms or more, such as 10s'),
  },
  {
    flag: '--journal-any-fs',
    help:
      'take a journal on NFS, SMB or FUSE, too, whose locks and flushes may not hold what ' +
      'they promise',
  },
  {
    flag: '--require-token',
    help: 'accept points only from holders of a token',
  },
  {
    flag: '--posts-per-address <number>',
    fallback: '60',
    help: 'points a minute that are accepted from one address without a token; 0 for any number',
    parse: (text) => wholeNumber(text, 0, MOST_POSTS),
  },
  {
    flag: '--posts-per-token <number>',
    fallback: '600',
    help: 'points a minute that are accepted from one user; 0 for any number',
    parse: (text) => wholeNumber(text, 0, MOST_POSTS),
  },
];

export const PROCESS_SETTINGS: readonly SettingRow[] = [
  {
    flag: '--host <address>',
    fallback: '127.0.0.1',
    help: 'address to listen on, or several with commas between; 0.0.0.0 or :: for all',
  },
  {
    flag: '--port <number>',
    fallback: '8080',
    help: 'port to listen on; 0 takes any free one',
    parse: (text) => wholeNumber(text, 0, 65_535),
  },
  {
    flag: '--listen-timeout <time>',
    fallback: '15s',
    help:
      'how long to wait for a port that is taken, such as by a process that is still ending; ' +
      '0 gives up at once',
    parse: duration,
  },
  {
    flag: '--public-url <url>',
    help: 'what links in answers begin with, instead of the Host of the request',
    parse: publicUrl,
  },
  {
    flag: '--time-zone <name>',
    fallback: 'UTC',
    help: 'where times stand that name no offset, in queries and in snapshots, such as Europe/Helsinki',
  },
  {
    flag: '--max-invalid <number>',
    fallback: '0',
    help: 'invalid records to leave out before a snapshot is refused; native files are never mended',
    parse: (text) => wholeNumber(text, 0, Number.MAX_SAFE_INTEGER),
  },
  {
    flag: '--max-shrink <percent>',
    fallback: '50',
    help: 'hold back a new snapshot that lost more than this share of the points; 100 takes any',
    parse: (text) => wholeNumber(text, 0, 100) / 100,
  },
  {
    flag: '--accept-page',
    help: 'serve a page of a longer list as if it were all of it',
  },
  {
    flag: '--allow-empty',
    help: 'serve a snapshot without points',
  },
  {
    flag: '--watch <mode>',
    fallback: 'events',
    help: 'how to learn of a new snapshot: events, poll (for network file systems) or off',
    parse: (text) => oneOf(text, ['events', 'poll', 'off']),
  },
  {
    flag: '--poll-interval <time>',
    fallback: '5s',
    help: 'how often --watch poll looks, and how often an address is asked',
    parse: (text) => atLeast(duration(text), 10, 'expected a time of 10ms or more, such as 5s'),
  },
  {
    flag: '--settle <time>',
    fallback: '500ms',
    help: 'how long a new file must hold still before it is read',
    parse: duration,
  },
  {
    flag: '--warm-up <time>',
    fallback: '500ms',
    help:
      'how long each thread asks itself questions before it takes those of clients; 0s for ' +
      'not at all',
    parse: duration,
  },
  {
    flag: '--workers <number>',
    fallback: 'auto',
    help:
      'threads that answer, all from the same memory; auto for one a core, ' +
      `${MOST_AUTO_WORKERS} at most`,
    parse: (text) => (text === 'auto' ? autoWorkers() : wholeNumber(text, 1, 128)),
  },
  {
    flag: '--admin-token <token>',
    help:
      'opens POST /admin/reload to whoever sends it, as a token of --tokens for admins does; ' +
      'without any there is no such address',
    parse: (text) => {
      if (isToken(text)) return text;
      throw new InputError('expected a token without blanks');
    },
  },
  {
    flag: '--operations-host <address>',
    fallback: '127.0.0.1',
    help: 'address for operators, where --operations-port is given',
  },
  {
    flag: '--operations-port <number>',
    help: 'port for health, metrics and reload, which are then nowhere else; 0 takes any free one',
    parse: (text) => wholeNumber(text, 0, 65_535),
  },
];
