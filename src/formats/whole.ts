import { InputError } from '../model/quote.js';
import type { LoadReport, RecordProblem } from './snapshot.js';

/** What may be taken though it is most likely a mistake. */
export interface Leniency {
  /** A page of a longer list, as the API answers it. */
  readonly acceptPage?: boolean | undefined;
  /** A snapshot without points. */
  readonly allowEmpty?: boolean | undefined;
}

/**
 * Why a file that was read without fault is still not taken, with the way out; undefined where it
 * is.
 */
export function doubtOf(
  { page, points, invalid }: LoadReport,
  { acceptPage = false, allowEmpty = false }: Leniency,
): string | undefined {
  if (page !== undefined && !acceptPage) {
    return `is a page of a longer list: ${page}; fetch all of it, or take it as it is with --accept-page`;
  }
  if (points > 0 || allowEmpty) return undefined;
  const left = invalid === 0 ? '' : `: all ${invalid} records are invalid and were left out`;
  return `has no points${left}; --allow-empty takes it all the same`;
}

/** Throws an InputError for a file that was read without fault and is still not taken. */
export function requireWhole(path: string, report: LoadReport, leniency: Leniency): void {
  const doubt = doubtOf(report, leniency);
  if (doubt !== undefined) throw new InputError(`${path}: ${doubt}`);
}

/** One text for each record that has problems: its place, then all that is wrong with it. */
export function problemTexts(problems: readonly RecordProblem[]): string[] {
  const texts = new Map<string, string>();
  for (const { place, field, reason } of problems) {
    const before = texts.get(place);
    texts.set(place, `${before === undefined ? `${place}: ` : `${before}; `}${field}: ${reason}`);
  }
  return [...texts.values()];
}
