import type { TimeZone } from '../model/time-zone.js';
import { formatLocal, type Timestamp } from '../model/timestamp.js';
import type { Microseconds } from '../model/units.js';

/**
 * Tells times of creation: each later than all before, also when the system's clock is put back.
 */
export interface PostClock {
  /** Undefined where no timestamp can say the time: beyond the year 2255, where microseconds are not exact. */
  next(): Timestamp | undefined;
}

/** Later times are no exact numbers. */
const LAST: Microseconds = Number.MAX_SAFE_INTEGER;

/** Makes a clock whose times lie behind `last`, on the local clocks of `zone`. */
export function createPostClock(last: Microseconds, zone: TimeZone): PostClock {
  let latest = last;
  let second = Number.NaN;
  let text = '';
  return {
    next() {
      const time = Math.max(latest + 1, systemMicros());
      if (time > LAST) return undefined;
      latest = time;
      const now = Math.floor(time / 1e6);
      if (now !== second) {
        second = now;
        text = formatLocal(now * 1e6, zone.offsetOf(now));
      }
      // all but the microseconds is the same for the whole second
      const micros = String(time - now * 1e6).padStart(6, '0');
      return { micros: time, text: text.slice(0, 20) + micros + text.slice(26) };
    },
  };
}

/** The system's clock, which counts milliseconds, with the microseconds of a finer one behind. */
function systemMicros(): Microseconds {
  return Date.now() * 1000 + Math.floor((performance.now() % 1) * 1000);
}
