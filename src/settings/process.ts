import { InputError } from '../errors.js';
import { isToken } from '../model/token.js';
import {
  atLeast,
  autoWorkers,
  duration,
  MOST_AUTO_WORKERS,
  oneOf,
  publicUrl,
  wholeNumber,
} from '../setting-values.js';
import type { Setting } from './setting.js';

/** Where the service listens, what it takes for new, and who operates it. */
export const PROCESS_SETTINGS: readonly Setting[] = [
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
    help: 'where times stand that name no offset, in queries and in snapshots, such as Europe/Helsinki',
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
    parse: (text) => atLeast(duration(text), 10, 'expected a time of 10ms or more, such as 5s'),
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
];
