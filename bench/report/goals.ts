import { besideOf } from '../http.js';
import { ratioOf, type Spread } from '../support/stats.js';
import { digits, plusMinus, type Table } from '../support/table.js';
import { tilesBesidePostgis } from '../tiles.js';
import type { Parts } from './report.js';

/** What was measured: a figure, or the ratios of rounds. */
type Figure = number | Spread | undefined;

/** What Waypost has to reach, and where a report says whether it does. */
interface Goal {
  readonly what: string;
  readonly least: number;
  /** Where it is below `least`, or 0, less is better. */
  readonly aim: number;
  readonly unit?: string;
  readonly by: string;
  readonly read: (parts: Parts) => Figure;
}

const MILLION = 1_000_000;
const FASTIFY = 'bare Fastify, a process a core';

const GOALS: readonly Goal[] = [
  {
    what: 'page of 100 for a small box, every request another box, beside bare Fastify, a process a core, that sends the same bytes',
    ...{ least: 0.75, aim: 0.9, by: 'bench/peers' },
    read: (parts) => besideFastify(parts, 'small-box'),
  },
  {
    what: 'page of the 100 nearest, every request another centre, likewise',
    ...{ least: 0.7, aim: 0.9, by: 'bench/peers' },
    read: (parts) => besideFastify(parts, 'nearby'),
  },
  {
    what: 'the same URL again, likewise',
    ...{ least: 0.9, aim: 1, by: 'bench/peers' },
    read: (parts) => besideFastify(parts, 'hot'),
  },
  {
    what: 'p99 latency while snapshots are reloaded, beside the p99 without',
    ...{ least: 1.5, aim: 1.2, unit: ' ×', by: 'bench/reload' },
    read: ({ reload }) => reload?.results.ratio,
  },
  {
    what: 'requests failed during reloads',
    ...{ least: 0, aim: 0, by: 'bench/reload' },
    read: ({ reload }) => reload?.results.failed,
  },
  {
    what: 'resident memory a minute after reloads, supervisor included, beside the size of the NDJSON',
    ...{ least: 1.6, aim: 1.3, unit: ' ×', by: 'bench/reload' },
    read: ({ reload }) => reload?.results.memory,
  },
  {
    what: 'NDJSON: process start to ready, beside JSON.parse of the same lines',
    ...{ least: 1.2, aim: 0.8, by: 'bench/load' },
    read: (parts) => loadOf(parts, 'ndjson')?.toParse,
  },
  {
    what: 'pack of NDJSON, likewise',
    ...{ least: 1.2, aim: 0.8, by: 'bench/load' },
    read: packBesideParse,
  },
  ...['csv', 'json', 'geojson'].map((format) => ({
    what: `${format}: process start to ready, likewise`,
    ...{ least: 2, aim: 1.5, by: 'bench/load' },
    read: (parts: Parts) => loadOf(parts, format)?.toParse,
  })),
  {
    what: 'native snapshot: process start to ready, likewise',
    ...{ least: 0.6, aim: 0.4, by: 'bench/load' },
    read: (parts) => loadOf(parts, 'native')?.toParse,
  },
  {
    what: 'peak memory of loading a native snapshot, beside the size of the NDJSON',
    ...{ least: 2, aim: 1.6, unit: ' ×', by: 'bench/load' },
    read: (parts) => {
      const native = loadOf(parts, 'native');
      return native && native.peak / native.ndjsonBytes;
    },
  },
  {
    what: 'points acknowledged a second, 256 clients, beside bare Fastify that sends posts back',
    ...{ least: 0.5, aim: 0.7, by: 'bench/post' },
    read: ({ post }) => post && ratioOf(post.results.rounds, 'posts', 'echoes'),
  },
  {
    what: 'p99 of reads while 500 posts a second run, beside without',
    ...{ least: 2, aim: 1.2, unit: ' ×', by: 'bench/post' },
    read: ({ post }) => post && ratioOf(post.results.rounds, 'besideMs', 'quietMs'),
  },
  {
    what: 'export as NDJSON to a reader that keeps up, beside bare Fastify that streams the same bytes',
    ...{ least: 0.7, aim: 1, by: 'bench/export' },
    read: (parts) => parts.export && ratioOf(parts.export.results.rounds, 'export', 'bare'),
  },
  {
    what: 'p99 of reads while 200 slow readers of exports begin, beside without',
    ...{ least: 2, aim: 1.2, unit: ' ×', by: 'bench/export' },
    read: (parts) => parts.export && ratioOf(parts.export.results.rounds, 'beginMs', 'quietMs'),
  },
  {
    what: 'p99 of reads beside 200 slow readers of exports, beside without',
    ...{ least: 2, aim: 1.2, unit: ' ×', by: 'bench/export' },
    read: (parts) => parts.export && ratioOf(parts.export.results.rounds, 'besideMs', 'quietMs'),
  },
  {
    what: 'vector tiles over HTTP, as many of every zoom, one filter, beside PostGIS ST_AsMVT over the same clusters',
    ...{ least: 136, aim: 300, unit: ' ×', by: 'bench/tiles' },
    read: ({ tiles }) =>
      tiles && tilesBesidePostgis(tiles.results, { points: MILLION, filters: 1 }),
  },
  {
    what: 'tile of zoom 0 of 10M points, a filter never asked before',
    ...{ least: 15, aim: 5, unit: ' ms', by: 'bench/tiles --large' },
    read: ({ tiles }) => tiles?.results.slowest.find(({ points }) => points > MILLION)?.millis,
  },
  {
    what: 'small boxes a second asked 100 in a request, beside one by one',
    ...{ least: 1.5, aim: 2.5, unit: ' ×', by: 'bench/http --batch' },
    read: ({ http }) => http && besideOf(http.results, 'small-box × 100'),
  },
  ...['small-box', 'nearby', 'tiles'].map((name) => ({
    what: `10M points beside 1M: ${name}`,
    ...(name === 'tiles' ? { least: 0.7, aim: 0.9 } : { least: 0.9, aim: 1 }),
    by: 'bench/http --beside',
    read: ({ scale }: Parts) => scale && besideOf(scale.results, `${name}, 10,000,000 points`),
  })),
];

/** The goals that a report measured, and which of them are reached. */
export function goalsTable(parts: Parts): Table {
  const rows = GOALS.flatMap(({ what, least, aim, unit = '', by, read }) => {
    const figure = read(parts);
    if (figure === undefined) return [];
    const isLimit = aim < least || aim === 0;
    const value = typeof figure === 'number' ? figure : figure.median;
    const text = typeof figure === 'number' ? digits(figure) : plusMinus(figure);
    const reaches = (bound: number): boolean => (isLimit ? value <= bound : value >= bound);
    const verdict = reaches(aim) ? 'aim reached' : reaches(least) ? 'reached' : 'missed';
    const sign = isLimit ? '≤ ' : '';
    return [
      [what, `${sign}${least}${unit}`, `${sign}${aim}${unit}`, `${text}${unit}`, verdict, by],
    ];
  });
  return {
    title: 'What it must reach',
    note: 'Ratios are the median of rounds in which both sides took turns, ± their standard deviation.',
    head: ['what', 'at least', 'aim', 'measured', 'verdict', 'script'],
    rows,
  };
}

function besideFastify({ peers }: Parts, scenario: string): Figure {
  const all = peers?.results.results ?? [];
  return all.find((one) => one.scenario === scenario && one.peer === FASTIFY)?.ours;
}

function loadOf({ load }: Parts, format: string) {
  const all = load?.results.loads.filter(({ points }) => points <= MILLION);
  return all?.find((one) => one.format === format);
}

function packBesideParse(parts: Parts): Figure {
  const pack = parts.load?.results.rates.find(({ command }) => command.startsWith('pack'));
  const parse = loadOf(parts, 'JSON.parse, line by line');
  return pack && parse && (pack.seconds.mean * 1000) / parse.startMs.mean;
}
