import { availableParallelism } from 'node:os';
import type { Leniency, Watermark } from '../../formats/snapshot.js';
import { InputError } from '../../model/quote.js';
import { isWhole } from '../../model/units.js';

export interface ServeSettings extends Leniency {
  readonly snapshot: string;
  readonly downloads?: string;
  readonly notifications?: string;
  readonly tokens?: string;
  /** Path, address of a database, or `none`; beside the snapshot where absent. */
  readonly journal?: string;
  readonly journalAnyFs?: boolean;
  readonly journalWait: number;
  readonly journalTimeout: number;
  readonly requireToken?: boolean;
  /** Posts a minute; 0 for any number. */
  readonly postsPerAddress: number;
  readonly postsPerToken: number;
  readonly media?: string;
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
  readonly imageTimeout: number;
  readonly host: string;
  readonly port: number;
  readonly listenTimeout: number;
  readonly publicUrl?: string;
  readonly timeZone: string;
  readonly maxInvalid: number;
  /** Share of the points: 0.5 for half of them. */
  readonly maxShrink: number;
  readonly watch: 'events' | 'poll' | 'off';
  /** Times are in milliseconds. */
  readonly pollInterval: number;
  readonly settle: number;
  readonly workers: number;
  readonly warmUp: number;
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
  readonly maxExports: number;
  readonly maxStreams: number;
  readonly shutdownTimeout: number;
  readonly drainDelay: number;
  readonly accessLog: number;
  readonly logFormat: string;
  readonly logLevel: string;
}

/** A container may see many more cores than it may use. */
const MOST_AUTO_WORKERS = 8;

/**
 * Makes a parser of whole numbers from `least` to `most`. It throws InputErrors, which also name
 * the `word` that may stand in place of one.
 */
export function wholeNumber(least: number, most: number, word?: string): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : undefined;
    if (isWhole(value, least, most)) return value;
    const upTo = most === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${most}`;
    const other = word === undefined ? '' : `${word} or `;
    throw new InputError(`expected ${other}a whole number, ${least} ${upTo}`);
  };
}

/** Bytes of a size such as `512KiB`, `64MiB`, `2GiB`, or plain bytes. Throws an InputError. */
export function byteSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(KiB|MiB|GiB)?$/.exec(text) ?? [];
  if (digits === undefined) throw new InputError('expected a size such as 64MiB, or bytes alone');
  return Number(digits) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(unit);
}

/** A timer of Node's for 25 days or more fires at once. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** Milliseconds of a time such as `500ms`, `10s`, `2m`, or 0. Throws an InputError. */
export function duration(text: string): number {
  const [, digits, unit] = /^(\d{1,9})(ms|s|m)$/.exec(text) ?? [];
  if (text === '0') return 0;
  const time = Number(digits) * (unit === 'm' ? 60_000 : unit === 's' ? 1000 : 1);
  if (time <= LONGEST_MS) return time;
  throw new InputError('expected a time such as 500ms, 10s or 2m, of 10080m at most');
}

/** A number of threads, or `auto` for one a core, {@link MOST_AUTO_WORKERS} at most. */
export function workers(text: string): number {
  if (text !== 'auto') return wholeNumber(1, 128, 'auto')(text);
  return Math.min(availableParallelism(), MOST_AUTO_WORKERS);
}

/** The entries of a list with commas between. Throws an InputError. */
export function list(text: string, isEntry: (entry: string) => boolean, what: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !isEntry(entry));
  if (wrong === undefined) return entries;
  throw new InputError(`expected ${what}, got ${JSON.stringify(wrong)}`);
}

/** Origins as browsers name them, with commas between; `*` for any. Throws an InputError. */
export function originList(text: string): string[] {
  const example = 'https://map.example or http://localhost:3000';
  const entries = list(text, isOrigin, `origins such as ${example}, without a path`);
  return entries.includes('*') ? ['*'] : entries;
}

/** Whether a browser may name an origin so; other texts would match nothing. */
function isOrigin(text: string): boolean {
  if (text === '*' || text === 'null') return true;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#*]+$/.test(text)) return false;
  // origins of applications, such as capacitor://localhost, have no normal form
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** Makes a parser of one of the choices. It throws InputErrors. */
export function oneOf(...choices: string[]): (text: string) => string {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new InputError(`expected one of ${choices.join(', ')}`);
  };
}

/** A template of the addresses of map tiles. Throws an InputError. */
export function tileUrl(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:\/\/[\w.:[\]-]+\/[\w./~%?&=@{}-]*$/.test(text);
  if (isWeb && ['{z}', '{x}', '{y}'].every((part) => text.includes(part))) return text;
  throw new InputError(
    'expected a URL with {z}, {x} and {y} in its path, such as ' +
      'https://tiles.example.org/{z}/{x}/{y}.png',
  );
}

/** A URL of the web without a query, its last slashes removed. Throws an InputError. */
export function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  // the text goes into JSON and headers as it is
  const isPlain = /^[\w:/.~%[\]-]+$/.test(text) && url?.username === '';
  // a link that begins with two slashes leads to another host
  if (isWeb && isPlain && !url.pathname.startsWith('//')) return text.replace(/\/+$/, '');
  throw new InputError('expected a URL such as https://example.org or https://example.org/notes');
}

/** The posts up to a sequence, of any journal where none is named. Throws an InputError. */
export function postsUpTo(text: string): Watermark {
  if (/^\d{1,15}$/.test(text)) return { journal: '', sequence: Number(text) };
  try {
    return watermark(text);
  } catch (error) {
    throw new InputError(`${(error as Error).message}, or the sequence alone`);
  }
}

/** The posts that `waypost journal export` names. Throws an InputError. */
export function watermark(text: string): Watermark {
  const [, journal, sequence] = /^([0-9a-f]{16}):(\d{1,15})$/.exec(text) ?? [];
  if (journal !== undefined) return { journal, sequence: Number(sequence) };
  throw new InputError(
    "expected a journal's name and a sequence, as waypost journal export prints them, such as 9f8c2b7e01d4a653:1234",
  );
}
