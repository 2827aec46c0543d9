import { InputError } from './errors.js';

/** A setting of `waypost serve`: one row makes the flag, the environment variable and the help. */
export interface Setting {
  /** As commander writes it: `--port <number>`. */
  readonly flag: string;
  readonly environment: string;
  readonly help: string;
  readonly required?: boolean;
  readonly fallback?: string;
  /** Turns the text into the value; throws an Error that names the rule. Texts stay as they are without. */
  readonly parse?: (text: string) => unknown;
}

/** The settings, read. */
export interface ServeSettings {
  readonly snapshot: string;
  readonly notifications?: string;
  readonly tokens?: string;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly timeZone: string;
  readonly maxInvalid: number;
  /** Bytes. */
  readonly answerCache: number;
  readonly logLevel: string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Every setting of `waypost serve`, in the order of its help; README.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = [
  {
    flag: '--snapshot <file>',
    environment: 'WAYPOST_SNAPSHOT',
    help: 'snapshot to serve: native, NDJSON, JSON, GeoJSON, CSV or MessagePack, all but native also gzipped',
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
    help: 'JSON object from access token to user id; without it every token is unknown',
  },
  {
    flag: '--host <address>',
    environment: 'WAYPOST_HOST',
    fallback: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 or :: for all',
  },
  {
    flag: '--port <number>',
    environment: 'WAYPOST_PORT',
    fallback: '8080',
    help: 'port to listen on; 0 takes any free one',
    parse: (text) => wholeNumber(text, 0, 65_535),
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
    help: 'invalid records to leave out before a snapshot is refused',
    parse: (text) => wholeNumber(text, 0, Number.MAX_SAFE_INTEGER),
  },
  {
    flag: '--answer-cache <size>',
    environment: 'WAYPOST_ANSWER_CACHE',
    fallback: '64MiB',
    help: 'memory for answers that are asked for again, such as 64MiB; 0 for none',
    parse: byteSize,
  },
  {
    flag: '--log-level <level>',
    environment: 'WAYPOST_LOG_LEVEL',
    fallback: 'info',
    help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
    parse: (text) => oneOf(text, LOG_LEVELS),
  },
];

/** A whole number between two bounds, both included. */
export function wholeNumber(text: string, least: number, most: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const upTo = most === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${most}`;
  throw new InputError(`expected a whole number, ${least} ${upTo}`);
}

/** Bytes of a size such as `512KiB`, `64MiB`, `2GiB`, or plain bytes. */
export function byteSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(KiB|MiB|GiB)?$/.exec(text) ?? [];
  if (digits === undefined) throw new InputError('expected a size such as 64MiB, or 0');
  return Number(digits) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(unit);
}

function oneOf(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text;
  throw new InputError(`expected one of ${choices.join(', ')}`);
}

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  // what is kept goes into JSON and headers as it is
  const isPlain = /^[\w:/.~%[\]-]+$/.test(text) && url?.username === '';
  if (isWeb && isPlain) return text.replace(/\/+$/, '');
  throw new InputError('expected a URL such as https://example.org or https://example.org/notes');
}
