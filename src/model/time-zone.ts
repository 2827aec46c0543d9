import { InputError } from './quote.js';

/** The zone of times without an offset. */
export interface TimeZone {
  readonly name: string;
  /**
   * Seconds that local clocks are ahead of UTC when they show `localSeconds`, counted as if it were
   * UTC; undefined where a clock change skips or repeats that time.
   */
  offsetAt(localSeconds: number): number | undefined;
  /** Seconds that local clocks are ahead of UTC at an instant, in seconds since the epoch. */
  offsetOf(seconds: number): number;
}

/** The most hours whose offset is kept: finding one takes 10 µs. */
const MOST_HOURS = 100_000;

export const UTC: TimeZone = { name: 'UTC', offsetAt: () => 0, offsetOf: () => 0 };

/** Opens an IANA time zone. Throws an InputError where the system does not know it. */
export async function openTimeZone(name: string = 'UTC'): Promise<TimeZone> {
  if (name === 'UTC') return UTC;
  // a service in UTC starts without loading it
  const { Temporal } = await import('temporal-polyfill');
  const start = new Temporal.PlainDateTime(1970, 1, 1);
  try {
    start.toZonedDateTime(name);
  } catch {
    throw new InputError(
      `--time-zone: ${JSON.stringify(name)} is no IANA time zone; take one such as ` +
        'Europe/Helsinki or UTC.',
    );
  }
  const look = (localSeconds: number): number | undefined => {
    try {
      const local = start.add({ seconds: localSeconds });
      const instant = local.toZonedDateTime(name, { disambiguation: 'reject' });
      return localSeconds - instant.epochMilliseconds / 1000;
    } catch {
      return undefined;
    }
  };
  /** The offset of each whole hour, where it does not change within. */
  const hours = new Map<number, number | undefined>();
  return {
    name,
    offsetAt(localSeconds) {
      const hour = Math.floor(localSeconds / 3600);
      if (!hours.has(hour)) {
        if (hours.size === MOST_HOURS) hours.clear();
        const offset = look(hour * 3600);
        hours.set(hour, offset === look(hour * 3600 + 3599) ? offset : undefined);
      }
      return hours.get(hour) ?? look(localSeconds);
    },
    offsetOf(seconds) {
      const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(seconds) * 1000);
      return Math.trunc(instant.toZonedDateTimeISO(name).offsetNanoseconds / 1e9);
    },
  };
}
