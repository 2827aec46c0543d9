import { InputError } from '../errors.js';
import { openTimeZone, type TimeZone } from '../model/time-zone.js';

/** Opens the time zone of the settings. Throws an InputError where the system does not know it. */
export async function openZone(name: string): Promise<TimeZone> {
  try {
    return await openTimeZone(name);
  } catch {
    throw new InputError(
      `--time-zone: ${JSON.stringify(name)} is no IANA time zone; take one such as Europe/Helsinki or UTC.`,
    );
  }
}
