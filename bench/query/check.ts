import { geodesic } from '../../src/model/geo.js';
import type { Filters } from '../../src/model/query.js';
import type { Engine } from '../../src/query/engine.js';
import type { Case } from './cases.js';
import type { Rival } from './rivals.js';

const PAGE_SIZE = 1000;
/** Pages that are read of one query: all of the smaller ones. */
const MOST_PAGES = 20;
/**
 * Share of a distance by which a sphere differs from the ellipsoid: rivals may differ on points
 * that close to the rim.
 */
const RIM = 0.006;

/**
 * Compares the engine's matches with those of every rival, query by query. Returns a line for each
 * difference.
 */
export function checkCase(engine: Engine, one: Case, rivals: readonly Rival[]): string[] {
  const problems: string[] = [];
  for (const filters of one.filters) {
    const ours = allRows(engine, filters, one);
    for (const rival of rivals) {
      if (!rival.kinds.includes(one.kind) || (one.target === Infinity && !rival.takesAll)) continue;
      const problem = difference(engine, filters, ours, rival.find(filters));
      if (problem !== undefined) {
        problems.push(`${one.kind}, ${one.target}: ${rival.name}: ${problem}`);
      }
    }
  }
  return problems;
}

/** All rows that the engine pages through, or only their number where there are too many pages. */
function allRows(
  engine: Engine,
  filters: Filters,
  { ordering }: Case,
): { count: number; rows: Set<number> | undefined } {
  const rows = new Set<number>();
  for (let page = 1; ; page++) {
    const answer = engine.run({ filters, ordering, page, pageSize: PAGE_SIZE })!;
    if (answer.pageCount > MOST_PAGES) return { count: answer.count, rows: undefined };
    for (let i = 0; i < answer.length; i++) rows.add(answer.rows[i]!);
    if (page >= answer.pageCount) return { count: answer.count, rows };
  }
}

function difference(
  { dataset }: Engine,
  { circle }: Filters,
  ours: { count: number; rows: Set<number> | undefined },
  theirs: ArrayLike<number>,
): string | undefined {
  if (ours.rows === undefined) {
    // the rim of a circle this large may be anywhere
    const slack = circle === undefined ? 0 : ours.count * 0.01;
    const isSame = Math.abs(ours.count - theirs.length) <= slack;
    return isSame ? undefined : `${theirs.length} instead of ${ours.count}`;
  }
  const isNearRim = (row: number): boolean => {
    if (circle === undefined) return false;
    const [lon, lat] = [dataset.coords[2 * row]!, dataset.coords[2 * row + 1]!];
    const distance = geodesic(circle.lon, circle.lat, lon, lat);
    return Math.abs(distance - circle.radius) <= RIM * circle.radius;
  };
  const others = new Set<number>(Array.from(theirs));
  const missing = [...ours.rows].filter((row) => !others.has(row) && !isNearRim(row));
  const extra = [...others].filter((row) => !ours.rows!.has(row) && !isNearRim(row));
  if (ours.rows.size !== ours.count) return `we count ${ours.count}, but list ${ours.rows.size}`;
  if (missing.length === 0 && extra.length === 0) return undefined;
  return `${missing.length} of ${ours.count} missing, ${extra.length} too many`;
}
