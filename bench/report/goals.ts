import { postRatio } from '../post/table.js';
import type { Spread } from '../support/stats.js';
import { digits } from '../support/table.js';
import type { Parts } from './types.js';

/** One line of the table of goals. */
export interface Goal {
  readonly what: string;
  readonly least: string;
  readonly aim: string;
  /** Undefined where the part that measures it was not run. */
  readonly measured: string | undefined;
  readonly verdict: 'aim' | 'least' | 'missed' | 'not measured';
  /** The script that measures it. */
  readonly by: string;
}

interface Figure {
  readonly value: number;
  readonly text: string;
}

interface Definition {
  readonly what: string;
  readonly least: number;
  readonly aim: number;
  /** Whether less is better. */
  readonly isLimit?: boolean;
  readonly unit?: string;
  readonly by: string;
  readonly read: (parts: Parts) => Figure | undefined;
}

const FASTIFY = 'bare Fastify, same bytes';
const MILLION = 1_000_000;

/** What Waypost has to reach, and where a report says whether it does. */
const DEFINITIONS: readonly Definition[] = [
  {
    what: 'page of 100 for a small box, every request another box, beside a bare Fastify route that sends the same bytes',
    least: 0.65,
    aim: 0.9,
    by: 'bench/peers',
    read: ({ peers }) => ratio(peers, 'small-box'),
  },
  {
    what: 'page of the 100 nearest, every request another centre, likewise',
    least: 0.6,
    aim: 0.9,
    by: 'bench/peers',
    read: ({ peers }) => ratio(peers, 'nearby'),
  },
  {
    what: 'the same URL again, likewise',
    least: 0.9,
    aim: 1,
    by: 'bench/peers',
    read: ({ peers }) => ratio(peers, 'hot'),
  },
  {
    what: 'page 1 of 1,000,000 matches beside page 1 of 100, in process, the worst of box, circle and time',
    least: 4,
    aim: 1.5,
    isLimit: true,
    unit: ' ×',
    by: 'bench/query',
    read: pageRatio,
  },
  {
    what: 'slowest query that a search finds in 1,000,000 points, hostile data included, in process',
    least: 5,
    aim: 2,
    isLimit: true,
    unit: ' ms',
    by: 'bench/query',
    read({ query }) {
      const slowest = query?.results.slowest?.[0];
      return slowest && plain(slowest.millis);
    },
  },
  {
    what: 'longest time for which a query that a search finds holds a thread, likewise',
    least: 5,
    aim: 2,
    isLimit: true,
    unit: ' ms',
    by: 'bench/query',
    read({ query }) {
      const longest = query?.results.longestHeld?.[0];
      return longest && plain(longest.held);
    },
  },
  {
    what: 'native snapshot: process start to ready, beside JSON.parse of the same NDJSON line by line',
    least: 0.7,
    aim: 0.4,
    isLimit: true,
    by: 'bench/load',
    read({ load }) {
      const native = findNative(load);
      return native && spread(native.toParse);
    },
  },
  {
    what: 'peak memory of loading a native snapshot, beside the size of the NDJSON',
    least: 2.5,
    aim: 1.6,
    isLimit: true,
    unit: ' ×',
    by: 'bench/load',
    read({ load }) {
      const native = findNative(load);
      return native && plain(native.peak / native.ndjsonBytes);
    },
  },
  {
    what: 'p99 latency while 1M points are reloaded, beside the p99 without',
    least: 3,
    aim: 1.5,
    isLimit: true,
    unit: ' ×',
    by: 'bench/reload',
    read: ({ reload }) => reload && plain(reload.results.ratio),
  },
  {
    what: 'requests failed during reloads',
    least: 0,
    aim: 0,
    isLimit: true,
    by: 'bench/reload',
    read: ({ reload }) =>
      reload && {
        value: reload.results.failed,
        text: `${reload.results.failed} of ${digits(reload.results.requests)}`,
      },
  },
  {
    what: 'points acknowledged a second, 256 clients, beside bare fdatasync calls a second',
    least: 20,
    aim: 100,
    unit: ' ×',
    by: 'bench/post',
    read: ({ post }) => post && spread(postRatio(post.results.rounds, 'posts', 'syncs')),
  },
  {
    what: 'the same where each flush takes 2 ms longer, as on a disk behind a network',
    least: 20,
    aim: 100,
    unit: ' ×',
    by: 'bench/post',
    read: ({ post }) => post && spread(postRatio(post.results.rounds, 'slowPosts', 'slowSyncs')),
  },
  {
    what: 'p99 of reads while 500 posts a second run, beside without',
    least: 2,
    aim: 1.2,
    isLimit: true,
    unit: ' ×',
    by: 'bench/post',
    read: ({ post }) => post && spread(postRatio(post.results.rounds, 'besideMs', 'quietMs')),
  },
  {
    what: '10M points, page of 100 for a small box, beside the same at 1M',
    least: 0.6,
    aim: 0.9,
    by: 'bench/scale',
    read({ scale }) {
      const found = scale?.results.find(({ scenario }) => scenario === 'small-box');
      return found && spread(found.ratio);
    },
  },
  {
    what: 'vector tiles a second with a filter, 1M points, beside PostGIS ST_AsMVT over the same clusters, the worst of all zooms',
    least: 100,
    aim: 1000,
    by: 'bench/tiles',
    read: ({ tiles }) => worstTiles(tiles),
  },
  {
    what: 'slowest tile: the whole world, 1M points, one filter',
    least: 20,
    aim: 5,
    isLimit: true,
    unit: ' ms',
    by: 'bench/tiles',
    read({ tiles }) {
      const slowest = tiles?.results.slowest.find(({ points }) => points === MILLION);
      return slowest && plain(slowest.millis);
    },
  },
];

/** Holds a report against the goals. */
export function goalsOf(parts: Parts): Goal[] {
  return DEFINITIONS.map((definition) => {
    const { what, least, aim, isLimit = false, unit = '', by, read } = definition;
    const figure = read(parts);
    const text = (value: number): string => `${isLimit && value > 0 ? '≤ ' : ''}${value}${unit}`;
    const reaches = (bound: number): boolean =>
      figure !== undefined && (isLimit ? figure.value <= bound : figure.value >= bound);
    let verdict: Goal['verdict'] = 'missed';
    if (figure === undefined) verdict = 'not measured';
    else if (reaches(aim)) verdict = 'aim';
    else if (reaches(least)) verdict = 'least';
    const measured = figure === undefined ? undefined : `${figure.text}${unit}`;
    return { what, least: text(least), aim: text(aim), measured, verdict, by };
  });
}

function ratio(peers: Parts['peers'], scenario: string): Figure | undefined {
  const found = peers?.results.results.find(
    (one) => one.scenario === scenario && one.peer === FASTIFY,
  );
  return found && spread(found.ours);
}

/** Time of page 1 of all points beside page 1 of 100: the worst of box, circle and time. */
function pageRatio({ query }: Parts): Figure | undefined {
  const cases = query?.results.cases.filter(({ points }) => points === MILLION) ?? [];
  const micros = (kind: string, target: string): number | undefined =>
    cases.find((one) => one.kind === kind && one.target === target)?.micros['Waypost, with JSON']
      ?.median;
  const ratios = ['box', 'radius', 'time'].flatMap((kind) => {
    const [all, few] = [micros(kind, 'all'), micros(kind, '100')];
    return all === undefined || few === undefined ? [] : [all / few];
  });
  return ratios.length === 0 ? undefined : plain(Math.max(...ratios));
}

/** How many times as long as ours a tile of PostGIS takes, at the zoom where that is least. */
function worstTiles(tiles: Parts['tiles']): Figure | undefined {
  const ratios = (tiles?.results.results ?? [])
    .filter(({ points, filters }) => points === MILLION && filters === 1)
    .flatMap(({ times }) => times.filter(({ contender }) => contender === 'PostGIS'))
    .map(({ toOurs }) => toOurs)
    .sort((a, b) => a.median - b.median);
  return ratios[0] && spread(ratios[0]);
}

function findNative(load: Parts['load']) {
  const all = load?.results.loads.filter(({ points }) => points === MILLION);
  return all?.find(({ format }) => format === 'native');
}

function spread({ median, deviation }: Spread): Figure {
  return { value: median, text: `${digits(median)} ± ${digits(deviation)}` };
}

function plain(value: number): Figure {
  return { value, text: digits(value) };
}
