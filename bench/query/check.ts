import type { Filters } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import type { Case } from './cases.js';
import type { Rival } from './rivals.js';

/** Share of a distance by which a sphere differs from the ellipsoid, at most. */
const RIM = 0.006;

/**
 * Compares only counts, query by query: the tests check which points are found. Rivals measure on a
 * sphere, so their counts must lie between those of slightly smaller and larger circles.
 */
export function checkCase(engine: Engine, one: Case, rivals: readonly Rival[]): string[] {
  const problems: string[] = [];
  const countOf = ({ circle, ...others }: Filters, factor: number): number => {
    const scaled = circle && { circle: { ...circle, radius: circle.radius * factor } };
    const filters = { ...others, ...scaled };
    return engine.run({ filters, ordering: one.ordering, page: 1, pageSize: 1 })!.count;
  };
  for (const filters of one.filters) {
    const [least, most] = [countOf(filters, 1 - RIM), countOf(filters, 1 + RIM)];
    for (const rival of rivals) {
      if (!rival.kinds.includes(one.kind) || (one.target === Infinity && !rival.takesAll)) continue;
      const { length } = rival.find(filters);
      if (length >= least && length <= most) continue;
      problems.push(`${one.kind}: ${rival.name} finds ${length} instead of ${least} to ${most}`);
    }
  }
  return problems;
}
