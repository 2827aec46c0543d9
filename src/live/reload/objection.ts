import { InputError } from '../../errors.js';
import type { Generation } from '../generation.js';

/** What is not served although it is whole. */
export interface Rules {
  /** A snapshot that lost more than this share of the points is held back: 0.5 for half of them. */
  readonly maxShrink: number;
  /** Whether a snapshot without points is taken. */
  readonly allowEmpty: boolean;
  /** Whether a page of a longer list is taken for all of it. */
  readonly acceptPage: boolean;
}

/** A snapshot is held back that is as it should be, but too small beside the one before. */
export class HeldBack extends InputError {}

/** Why a snapshot is not to be served, if so. `before` is how many points are served, 0 where that does not matter. */
export function objectionTo(
  { count, parts }: Generation,
  path: string,
  before: number,
  { maxShrink, allowEmpty, acceptPage }: Rules,
): InputError | undefined {
  const { page } = parts.dataset.report;
  if (page !== undefined && !acceptPage) {
    return new InputError(`${path}: ${page}; --accept-page serves it all the same`);
  }
  if (count === 0 && !allowEmpty) {
    return new InputError(`${path}: it has no points; --allow-empty serves it all the same`);
  }
  if (count >= before * (1 - maxShrink)) return undefined;
  return new HeldBack(
    `${path}: it has ${count} points where ${before} are served, a loss of more than ${maxShrink * 100} %; a reload that accepts it takes it all the same`,
  );
}
