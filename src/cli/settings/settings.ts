import { isHostPattern } from '../../model/authority.js';
import { InputError, readAsset } from '../../model/quote.js';
import {
  byteSize,
  duration,
  list,
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
  /** Throws an Error that names the rule; undefined for a switch. */
  readonly parse: Parse | undefined;
}

type Parse = (text: string) => unknown;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Each flag with its value, default and bounds, and its help. Without the bound on image pixels a
 * decoder could hold gigabytes; a page of fewer bytes than its bound could not have each record.
 */
const TABLE = readAsset('settings.txt');

/** How values are read, by their name in the table. */
const BY_KIND: Readonly<Record<string, Parse>> = {
  '<number>': wholeNumber(0, Number.MAX_SAFE_INTEGER),
  '<time>': duration,
  '<size>': byteSize,
  '<percent>': (text) => wholeNumber(0, 100)(text) / 100,
};

/** How the values of flags with rules of their own are read. */
const BY_FLAG: Readonly<Record<string, Parse>> = {
  '--public-url': publicUrl,
  '--watch': oneOf('events', 'poll', 'off'),
  '--workers': workers,
  '--admin-token': (text) => {
    // it stands in a header without quotes
    if (/^\S+$/.test(text)) return text;
    throw new InputError('expected a token without blanks');
  },
  '--allowed-hosts': (text) => list(text, isHostPattern, 'host names without a port'),
  '--cors-origin': (text) => (text === 'none' ? [] : originList(text)),
  '--tile-url': tileUrl,
  '--log-format': oneOf('auto', 'json', 'text'),
  '--log-level': oneOf(...LOG_LEVELS),
};

/** Paths and names; a script whose variable is empty gives an empty one. */
const filled: Parse = (text) => {
  if (text !== '') return text;
  throw new InputError('expected a value, or no such flag');
};

const ROW =
  /^((--\S+)(?: (<\w+>))?)( required)?(?: = ([^\s,]+))?(?:, at least (\S+)|, (\d+) to (\d+))?\n(.*)$/s;

/** Refuses values below `least`; the default is the example in the error. */
function atLeast(least: string, parse: Parse, fallback: string): Parse {
  return (text) => {
    const value = parse(text) as number;
    if (value >= (parse(least) as number)) return value;
    throw new InputError(`expected ${least} or more, such as ${fallback}`);
  };
}

/** Every setting of `waypost serve`, in the order of its help; docs/settings.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = TABLE.trim()
  .split(/\n(?=--)/)
  .map((row) => {
    const [, flag = '', name = '', kind = '', required, fallback, least, from, to, help = ''] =
      ROW.exec(row)!;
    const text = kind === '' ? undefined : filled;
    const bounded = from === undefined ? undefined : wholeNumber(Number(from), Number(to));
    const own = bounded ?? BY_KIND[kind] ?? text;
    return {
      flag,
      environment: `WAYPOST_${name.slice(2).toUpperCase().replaceAll('-', '_')}`,
      help: help.trim().replaceAll(/\n\s*/g, ' '),
      required: required !== undefined,
      fallback,
      parse: BY_FLAG[name] ?? (least === undefined ? own : atLeast(least, own!, fallback!)),
    };
  });

/** Variables that Kubernetes sets for a Service whose name begins with `waypost`. */
const OF_A_SERVICE =
  /^WAYPOST_(?:[A-Z\d_]+_)?(?:SERVICE_(?:HOST|PORT(?:_[A-Z\d_]+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?)$/;

/** Such a variable that may have the name of a setting: `WAYPOST_PORT=tcp://10.0.0.1:80`. */
function isPortOfService(name: string, value: string | undefined): boolean {
  return /^WAYPOST_(?:[A-Z\d_]+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value ?? '');
}

/**
 * The environment without variables that set nothing: empty ones, those of Kubernetes for a
 * Service, and switches that say `false`. Throws an InputError for another value of a switch.
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

/** The variables that set nothing, but may have been meant to. */
export function strangeVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = SERVE_SETTINGS.map((setting) => setting.environment);
  return Object.keys(environment).filter((name) => {
    if (isPortOfService(name, environment[name])) return known.includes(name);
    return name.startsWith('WAYPOST_') && !known.includes(name) && !OF_A_SERVICE.test(name);
  });
}
