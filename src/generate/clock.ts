import type { Timestamp } from '../model/timestamp.js';
import type { Microseconds } from '../model/units.js';
import { cumulative, type Random } from './random.js';

const DAY = 86_400;
const FIRST_DAY = Date.UTC(2020, 0, 1) / 1000 / DAY;
const DAYS = Date.UTC(2024, 0, 1) / 1000 / DAY - FIRST_DAY;
const START_OF_2023 = Date.UTC(2023, 0, 1) * 1000;

/** When the generated export claims to have been made: later than anything in it. */
export const EXPORTED_AT: number = Date.UTC(2024, 3, 1);

const MONTHS = [7, 8, 10, 11, 13, 10, 6, 9, 11, 10, 9, 6];
const HOURS = [2, 1, 1, 1, 1, 2, 4, 8, 11, 12, 12, 12, 13, 12, 12, 13, 14, 13, 12, 11, 9, 7, 5, 3];
const BY_DAY = cumulative(Array.from({ length: DAYS }, (_, day) => dayWeight(FIRST_DAY + day)));
const BY_HOUR = cumulative(HOURS);

const SUMMERS = [2020, 2021, 2022, 2023, 2024].map(
  (year) => [lastSunday(year, 2), lastSunday(year, 9)] as const,
);

/**
 * Most by day, in spring and autumn, and more every year, from 2020 to 2023 by Helsinki's clocks.
 */
export function createdAt(random: Random): Microseconds {
  const day = FIRST_DAY + random.weighted(BY_DAY);
  const local = day * DAY + random.weighted(BY_HOUR) * 3600 + random.int(3600);
  // read as winter time first, to see whether it is summer; a skipped hour lands beside the gap
  const seconds = local - helsinkiOffset(local - 7200);
  return seconds * 1e6 + fraction(random);
}

/** The same time for half of the points, else up to 90 days later, sooner more often. */
export function modifiedAt(random: Random, created: Microseconds): Microseconds {
  if (random.chance(0.5)) return created;
  return later(random, created, 90);
}

/** Less than `days` days after `time`, sooner more often than later. */
export function later(random: Random, time: Microseconds, days: number): Microseconds {
  const share = random.next();
  const seconds = 1 + Math.floor(share * share * share * (days * DAY - 2));
  return (Math.floor(time / 1e6) + seconds) * 1e6 + fraction(random);
}

/** True in UTC's 2023 and so in Helsinki's too, whose clocks are ahead. */
export function isIn2023(created: Microseconds): boolean {
  return created >= START_OF_2023;
}

/** The instant as Helsinki's clocks show it. */
export function helsinkiTime(micros: Microseconds): Timestamp {
  const seconds = Math.floor(micros / 1e6);
  const offset = helsinkiOffset(seconds);
  const local = new Date((seconds + offset) * 1000).toISOString().slice(0, 19);
  const fraction = String(micros - seconds * 1e6).padStart(6, '0');
  return { micros, text: `${local}.${fraction}+0${offset / 3600}:00` };
}

/**
 * Seconds that Helsinki's clocks are ahead of UTC, for 2020 to 2024: by the rule of the EU, summer
 * time runs from 01:00 UTC on the last Sunday of March to 01:00 UTC on the last Sunday of October.
 */
export function helsinkiOffset(seconds: number): number {
  return SUMMERS.some(([from, to]) => from <= seconds && seconds < to) ? 10_800 : 7200;
}

/** 01:00 UTC on the last Sunday of a month of 31 days, in seconds; January is 0. */
function lastSunday(year: number, month: number): number {
  const end = new Date(Date.UTC(year, month, 31, 1));
  return end.getTime() / 1000 - end.getUTCDay() * DAY;
}

/** Some clients never had finer clocks than seconds. */
function fraction(random: Random): number {
  return random.chance(0.06) ? 0 : random.int(1_000_000);
}

function dayWeight(day: number): number {
  const date = new Date(day * DAY * 1000);
  const growth = 16 + 3 * (date.getUTCFullYear() - 2020);
  const weekend = date.getUTCDay() % 6 === 0 ? 3 : 4;
  return growth * weekend * MONTHS[date.getUTCMonth()]!;
}
