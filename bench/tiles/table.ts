import { digits } from '../support/table.js';
import type { TileResult, TileResults } from './results.js';

/** Contenders in the order of columns. */
const COLUMNS = ['Waypost', 'Waypost, by HTTP', 'PostGIS', 'supercluster'] as const;

/** The table of a report: a row for each zoom with as many filters. */
export function tileTable(results: TileResults): {
  title: string;
  note: string;
  head: string[];
  rows: string[][];
} {
  const ratios = ['PostGIS', 'supercluster'] as const;
  return {
    title: 'Vector tiles',
    note: `Microseconds a tile, by the number of filters. One process and one connection each. ${tileNotes(results).join(' ')}`,
    head: ['points', 'filters', 'zoom', 'tiles', ...COLUMNS, ...ratios.map((one) => `${one} ×`)],
    rows: results.results.map((one) => [
      digits(one.points),
      String(one.filters),
      String(one.zoom),
      String(one.times[0]!.tiles),
      ...COLUMNS.map((name) => cell(one, name, 'micros')),
      ...ratios.map((name) => cell(one, name, 'toOurs')),
    ]),
  };
}

function cell({ times }: TileResult, contender: string, what: 'micros' | 'toOurs'): string {
  const found = times.find((one) => one.contender === contender);
  return found === undefined ? '–' : digits(found[what].median);
}

/** What a table of tiles leaves open. */
export function tileNotes(results: TileResults): string[] {
  const { queries, rebuilt, floors = [], slowest, hostile, skipped } = results;
  const worst = slowest[0];
  return [
    ...Object.entries(queries)
      .filter(([, query]) => query !== '')
      .map(([count, query]) => `${count}: \`${query}\`.`),
    ...rebuilt.map(
      ({ points, filters, seconds }) =>
        `supercluster takes ${digits(seconds)} s to make its index of ${digits(points)} points with ${filters} filters.`,
    ),
    ...mixes(results),
    ...floors.map(
      ({ points, what, micros }) =>
        `Floor, ${digits(points)} points: ${what}: ${digits(micros.median)} µs.`,
    ),
    ...(worst === undefined
      ? []
      : [
          `The slowest tile of the world with one filter took ${digits(worst.millis)} ms, at once ${digits(worst.held)} ms: \`${worst.query}\`.`,
        ]),
    ...hostile.map(
      ({ points, accepted = 0, tried, refused, slowest: slow, longestHeld: longest = slow }) =>
        `Of ${digits(tried)} hostile addresses, asked of ${digits(points)} points${accepted > 0 ? ` and ${digits(accepted)} accepted ones` : ''}, ${digits(refused)} were refused; the slowest of the others took ${digits(slow?.millis ?? 0)} ms, the longest that one holds a thread ${digits(longest?.held ?? 0)} ms.`,
    ),
    ...Object.entries(skipped).map(([peer, why]) => `Left out: ${peer}: ${why}.`),
  ];
}

/** Tiles a second of a mix in which every zoom has as many tiles, beside ours. */
function mixes({ results }: TileResults): string[] {
  const kinds = new Map<string, TileResult[]>();
  for (const one of results) {
    const kind = `${digits(one.points)} points, ${one.filters} filters`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), one]);
  }
  return [...kinds].map(([kind, zooms]) => {
    const totals = zooms[0]!.times.map(({ contender }, i) => ({
      contender,
      micros: zooms.reduce((sum, { times }) => sum + times[i]!.micros.median, 0),
    }));
    const each = totals.map(
      ({ contender, micros }) =>
        `${contender} ${digits((zooms.length * 1e6) / micros)} tiles a second, ${digits(micros / totals[0]!.micros)} × the time`,
    );
    return `Mix of all zooms, ${kind}: ${each.join('; ')}.`;
  });
}
