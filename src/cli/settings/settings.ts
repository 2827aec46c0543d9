import { readFileSync } from 'node:fs';
import { InputError } from '../../model/quote.js';
import { isToken } from '../../model/units.js';
import {
  atLeast,
  byteSize,
  duration,
  hostList,
  oneOf,
  originList,
  publicUrl,
  tileUrl,
  wholeNumber,
  workers,
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
const TABLE = readFileSync(new URL('../../../../assets/settings.txt', import.meta.url), 'utf8');

/** How values are read, by what the table calls them. */
const BY_KIND: Readonly<Record<string, Parse>> = {
  '<time>': duration,
  '<size>': byteSize,
  '<percent>': (text) => wholeNumber(0, 100)(text) / 100,
};

/** How the values of some flags are read, which have rules of their own. */
const BY_FLAG: Readonly<Record<string, Parse>> = {
  '--max-image-bytes': atLeast(1, 'expected a size above 0, such as 20MiB', byteSize),
  // beyond it a decoder holds gigabytes
  '--max-image-pixels': wholeNumber(1, 250_000_000),
  '--image-timeout': atLeast(1, 'expected a time above 0, such as 10s', duration),
  '--journal-timeout': atLeast(100, 'expected a time of 100ms or more, such as 10s', duration),
  '--posts-per-address': wholeNumber(0, 60_000),
  '--posts-per-token': wholeNumber(0, 60_000),
  '--port': wholeNumber(0, 65_535),
  '--public-url': publicUrl,
  '--max-invalid': wholeNumber(0, Number.MAX_SAFE_INTEGER),
  '--watch': oneOf('events', 'poll', 'off'),
  '--poll-interval': atLeast(10, 'expected a time of 10ms or more, such as 5s', duration),
  '--workers': workers,
  '--admin-token': (text) => {
    if (isToken(text)) return text;
    throw new InputError('expected a token without blanks');
  },
  '--operations-port': wholeNumber(0, 65_535),
  '--allowed-hosts': hostList,
  '--cors-origin': (text) => (text === 'none' ? [] : originList(text)),
  '--max-page-bytes': atLeast(
    256 * 1024,
    'expected 256KiB or more, since a single record may have that',
    byteSize,
  ),
  '--max-streams': wholeNumber(0, 100_000),
  '--max-exports': wholeNumber(0, 100_000),
  '--tile-url': tileUrl,
  '--max-header-size': atLeast(1024, 'expected 1KiB or more, such as 32KiB', byteSize),
  '--max-connections': wholeNumber(1, 1_000_000),
  '--answer-timeout': atLeast(1, 'expected a time above 0, such as 30s', duration),
  '--max-unsent': atLeast(1, 'expected a size above 0, such as 256MiB', byteSize),
  '--log-format': oneOf('auto', 'json', 'text'),
  '--log-level': oneOf(...LOG_LEVELS),
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
