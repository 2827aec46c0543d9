import {
  type Choice,
  chooseAccessPath,
  MARKED,
  type PathFacts,
} from '../../src/query/common/plan.js';

/** Chooses an access path by a few facts. */
export function choosePath(
  end: number,
  count: number,
  span: number,
  form: PathFacts['form'],
  given: Partial<PathFacts> = {},
): Choice {
  const usual = { length: end, tests: 1, listing: 0, marking: count * MARKED, cellRows: undefined };
  return chooseAccessPath({ end, count, span, form, ...usual, hasWalked: false, ...given });
}
