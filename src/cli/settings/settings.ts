import { InputError } from '../../model/quote.js';
import { CLIENT_SETTINGS } from './client-settings.js';
import { POINTS_SETTINGS, PROCESS_SETTINGS } from './process-settings.js';
import type { Setting } from './values.js';

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
