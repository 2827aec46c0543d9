/** Where clocks without an offset stand. */
export interface TimeZone {
  readonly name: string;
  /**
   * Seconds that local clocks are ahead of UTC at `localSeconds` (the clock's reading, counted as
   * if it were UTC); undefined where a clock change skips or repeats that reading.
   */
  offsetAt(localSeconds: number): number | undefined;
  /** Seconds that local clocks are ahead of UTC at an instant, in seconds since the epoch. */
  offsetOf(seconds: number): number;
}

export const UTC: TimeZone = { name: 'UTC', offsetAt: () => 0, offsetOf: () => 0 };

/**
 * Opens an IANA time zone by name.
 * Throws a RangeError that names the zone when the system does not know it.
 */
export async function openTimeZone(name: string): Promise<TimeZone> {
  if (name === 'UTC') return UTC;
  // loaded on demand: a service in UTC starts without it
  const { Temporal } = await import('temporal-polyfill');
  const start = new Temporal.PlainDateTime(1970, 1, 1);
  start.toZonedDateTime(name);
  return {
    name,
    offsetAt(localSeconds) {
      try {
        const local = start.add({ seconds: localSeconds });
        const instant = local.toZonedDateTime(name, { disambiguation: 'reject' });
        return localSeconds - instant.epochMilliseconds / 1000;
      } catch {
        return undefined;
      }
    },
    offsetOf(seconds) {
      const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(seconds) * 1000);
      return Math.trunc(instant.toZonedDateTimeISO(name).offsetNanoseconds / 1e9);
    },
  };
}
