import { digits } from '../support/table.js';
import type { TileResult } from './results.js';

const SETS = [0, 1, 3] as const;

/** A column of a table: what it is called, and what it has for tiles of a zoom. */
interface Column {
  readonly title: string;
  readonly filters: number;
  readonly contender: string;
  /** How many times as long as Waypost, instead of microseconds. */
  readonly isRatio: boolean;
}

/** Of docs/performance.md, in its order. */
const PERFORMANCE: readonly Column[] = ['Waypost', 'PostGIS', 'supercluster'].flatMap((contender) =>
  SETS.map((filters, i) => {
    const isRatio = contender !== 'Waypost';
    const first = `${contender} ${isRatio ? '×' : 'µs'}: ${filters}`;
    const title = i === 0 ? first : i === 1 ? `${filters}` : `${filters} filters`;
    return { title, filters, contender, isRatio };
  }),
);

/** Of docs/maps.md. */
const MAPS: readonly Column[] = [
  { title: 'no filter', filters: 0, contender: 'Waypost', isRatio: false },
  { title: 'one filter', filters: 1, contender: 'Waypost', isRatio: false },
  { title: 'three filters', filters: 3, contender: 'Waypost', isRatio: false },
  {
    title: 'by HTTP, one filter',
    filters: 1,
    contender: 'Waypost, by HTTP',
    isRatio: false,
  },
  { title: 'PostGIS, one filter', filters: 1, contender: 'PostGIS', isRatio: false },
];

/** The tables of the documents, in Markdown, for each number of points. */
export function documentTables(results: readonly TileResult[]): string[] {
  return [...new Set(results.map(({ points }) => points))].flatMap((points) => {
    const ofSize = results.filter((one) => one.points === points);
    const mix = ['mix, tiles a second', ...PERFORMANCE.map((column) => mixOf(ofSize, column))];
    return [
      `\ndocs/performance.md, ${digits(points)} points:\n`,
      tableOf(PERFORMANCE, ofSize, [mix]),
      `\ndocs/maps.md, ${digits(points)} points:\n`,
      tableOf(MAPS, ofSize, []),
    ];
  });
}

function tableOf(
  columns: readonly Column[],
  results: readonly TileResult[],
  more: readonly (readonly string[])[],
): string {
  const zooms = [...new Set(results.map(({ zoom }) => zoom))];
  const rows = zooms.map((zoom) => [
    String(zoom),
    ...columns.map((column) => {
      const found = valuesOf(results, column).find((one) => one.zoom === zoom);
      return found === undefined ? '–' : digits(column.isRatio ? found.ratio : found.micros);
    }),
  ]);
  const head = ['zoom', ...columns.map(({ title }) => title)];
  return [head, head.map(() => '---:'), ...rows, ...more]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Tiles a second of as many tiles of each zoom, or how many times as many Waypost makes. */
function mixOf(results: readonly TileResult[], column: Column): string {
  const total = ({ contender }: { readonly contender: string }): number =>
    valuesOf(results, { ...column, contender }).reduce((sum, { micros }) => sum + micros, 0);
  const micros = total(column);
  if (micros === 0) return '–';
  const zooms = valuesOf(results, column).length;
  return digits(column.isRatio ? micros / total({ contender: 'Waypost' }) : (zooms * 1e6) / micros);
}

/** What a contender took for the tiles of each zoom, with as many filters. */
function valuesOf(
  results: readonly TileResult[],
  { filters, contender }: Pick<Column, 'filters' | 'contender'>,
): { readonly zoom: number; readonly micros: number; readonly ratio: number }[] {
  return results
    .filter((one) => one.filters === filters)
    .flatMap(({ zoom, times }) =>
      times
        .filter((one) => one.contender === contender)
        .map(({ micros, toOurs }) => ({ zoom, micros: micros.median, ratio: toOurs.median })),
    );
}
