import { atLeast, byteSize, duration, wholeNumber } from '../setting-values.js';
import type { Setting } from './setting.js';

/** Posts a minute. */
const MOST_POSTS = 60_000;

/** Beyond it a decoder holds gigabytes. */
const MOST_IMAGE_PIXELS = 250_000_000;

/** What is served and accepted. */
export const POINTS_SETTINGS: readonly Setting[] = [
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
    help: 'most pixels that an image may have, width times height, and a PNG 40 million; one of more gets 400',
    parse: (text) => wholeNumber(text, 1, MOST_IMAGE_PIXELS),
  },
  {
    flag: '--image-timeout <time>',
    environment: 'WAYPOST_IMAGE_TIMEOUT',
    fallback: '10s',
    help: 'how long an image may take to be decoded; one that takes longer gets 400',
    parse: (text) => atLeast(duration(text), 1, 'expected a time above 0, such as 10s'),
  },
  {
    flag: '--journal <file>',
    environment: 'WAYPOST_JOURNAL',
    help: 'file that keeps accepted points, none to only read; beside the snapshot and called like it with .journal behind when absent',
  },
  {
    flag: '--journal-any-fs',
    environment: 'WAYPOST_JOURNAL_ANY_FS',
    help: 'take a journal on NFS, SMB or FUSE, too, whose locks and flushes may not hold what they promise',
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
];
