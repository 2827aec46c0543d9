import { InputError } from '../errors.js';
import { CLIENT_SETTINGS } from './clients.js';
import { POINTS_SETTINGS } from './points.js';
import { PROCESS_SETTINGS } from './process.js';
import type { Setting } from './setting.js';

/** Every setting of `waypost serve`, in the order of its help; README.md lists the same. */
export const SERVE_SETTINGS: readonly Setting[] = [
  ...POINTS_SETTINGS,
  ...PROCESS_SETTINGS,
  ...CLIENT_SETTINGS,
];

/**
 * The environment as far as it sets something: an empty variable counts as absent, and one for a
 * flag that takes no value must say `true` or `false`. Throws an InputError that names the
 * variable.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = { ...environment };
  for (const { environment: name, flag } of SERVE_SETTINGS) {
    const value = read[name];
    if (value === undefined) continue;
    const isSwitch = !flag.includes('<');
    if (value === '' || (isSwitch && /^(false|no|0)$/i.test(value))) delete read[name];
    else if (isSwitch && !/^(true|yes|1)$/i.test(value)) {
      throw new InputError(`${name}: expected true or false, got ${JSON.stringify(value)}`);
    }
  }
  return read;
}
