import { counted, whole } from '../progress.js';
import { problemTexts } from '../snapshot/problem-texts.js';
import type { LoadReport } from '../snapshot/snapshot.js';

/** The invalid records that were left out: the first ones with what is wrong with them. */
export function leftOutLines({ invalid, problems }: LoadReport): string[] {
  if (invalid === 0) return [];
  const texts = problemTexts(problems);
  const lines = texts.map((text) => `  ${text}`);
  const more = invalid - texts.length;
  if (more > 0) lines.push(`  and ${whole(more)} more`);
  return [`${counted(invalid, 'invalid record')} left out:`, ...lines];
}

/** What was dropped of records that are valid otherwise. */
export function unknownKeyLines({ unknownKeys }: LoadReport): string[] {
  const keys = Object.entries(unknownKeys);
  if (keys.length === 0) return [];
  return [
    `unknown keys dropped: ${keys.map(([key, times]) => `${key} (${whole(times)})`).join(', ')}`,
  ];
}

/** The times that named no offset, which may have been meant for another time zone. */
export function localTimeLines({ localTimes }: LoadReport): string[] {
  if (localTimes === undefined) return [];
  const { count, zone } = localTimes;
  return [`${counted(count, 'time')} without an offset, read as ${zone} (--time-zone)`];
}

/** What a page that was accepted lacks of its list. */
export function pageLines({ page }: LoadReport): string[] {
  return page === undefined ? [] : [`accepted as it is, a page of a longer list: ${page}`];
}
