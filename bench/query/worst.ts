import { FARTHEST } from '../../src/model/geo.js';
import type { Engine } from '../../src/query/engine.js';
import type { Filters, Ordering, TimeWindow } from '../../src/query/query.js';
import { spreadOf } from '../support/stats.js';

/** The slowest combination of filters that was found. */
export interface Worst {
  readonly combinations: number;
  /** Median. */
  readonly micros: number;
  /** In words: which filters, which ordering, which page. */
  readonly what: string;
  readonly matches: number;
}

const ORDERINGS: readonly Ordering[] = ['id', 'distance', 'created_at', '-modified_at'];
/** Nearly all, not all: a window around all rows is no filter. */
const SHARES: readonly number[] = [0, 0.003, 0.1, 0.5, 0.99];
/** Fewer where each takes long: those that were slowest at a million points. */
const COARSE_SHARES: readonly number[] = [0, 0.1, 0.99];
const COARSE_FROM = 4_000_000;
const PAGES = ['first', 'middle', 'last'] as const;
const CENTRE = { lat: 60.17, lon: 24.94 };
/** So many of the slowest are measured again, so often: one hiccup of the machine must not make a winner. */
const FINALISTS = 20;
const TIMES = 2;
const FINAL_TIMES = 15;

interface Candidate extends Omit<Worst, 'combinations'> {
  readonly run: () => unknown;
}

/**
 * Tries boxes, circles and both time windows of every size together, in all orderings, at the first, the
 * middle and the last page, and returns the slowest.
 */
export function findWorst(engine: Engine): Worst {
  let combinations = 0;
  let slowest: Candidate[] = [];
  for (const [filters, words] of combinationsOf(engine)) {
    for (const ordering of ORDERINGS) {
      if (ordering === 'distance' && filters.circle === undefined) continue;
      const { count, pageCount } = engine.run({ filters, ordering, page: 1, pageSize: 100 })!;
      for (const which of PAGES) {
        const page = which === 'first' ? 1 : which === 'last' ? pageCount : (pageCount + 1) >> 1;
        const run = (): unknown => engine.run({ filters, ordering, page, pageSize: 100 });
        combinations++;
        const micros = Math.min(...timesOf(run, TIMES));
        if (slowest.length === FINALISTS && micros <= slowest.at(-1)!.micros) continue;
        const what = `${words}, by ${ordering}, ${which} page`;
        slowest.push({ micros, what, matches: count, run });
        slowest = slowest.sort((a, b) => b.micros - a.micros).slice(0, FINALISTS);
      }
    }
  }
  const final = slowest.map(({ what, matches, run }) => ({
    combinations,
    micros: spreadOf(timesOf(run, FINAL_TIMES)).median,
    what,
    matches,
  }));
  return final.reduce((worst, one) => (one.micros > worst.micros ? one : worst));
}

function* combinationsOf(engine: Engine): Generator<[Filters, string]> {
  const { dataset } = engine;
  const steps = dataset.count < COARSE_FROM ? SHARES : COARSE_SHARES;
  for (const box of steps) {
    for (const circle of steps) {
      for (const created of steps) {
        for (const modified of steps) {
          const shares = { box, circle, created, modified };
          const used = Object.entries(shares).filter(([, share]) => share > 0);
          if (used.length === 0) continue;
          const filters: Filters = {
            ...(box > 0 ? { boxes: [boxOf(box)] } : {}),
            ...(circle > 0 ? { circle: { ...CENTRE, radius: FARTHEST * circle } } : {}),
            ...(created > 0 ? { createdAt: windowOf(dataset.byCreatedAt.keys, created) } : {}),
            ...(modified > 0 ? { modifiedAt: windowOf(dataset.byModifiedAt.keys, modified) } : {}),
          };
          yield [filters, used.map(([name, share]) => `${name} ${share * 100} %`).join(' + ')];
        }
      }
    }
  }
}

/** A box around the middle of the densest city that spans a share of the map each way. */
function boxOf(share: number): NonNullable<Filters['boxes']>[number] {
  const { lat, lon } = CENTRE;
  return {
    west: Math.max(-180, lon - 180 * share),
    south: Math.max(-90, lat - 90 * share),
    east: Math.min(180, lon + 180 * share),
    north: Math.min(90, lat + 90 * share),
  };
}

function windowOf(keys: Float64Array, share: number): TimeWindow {
  const length = Math.max(1, Math.floor(keys.length * share));
  const from = (keys.length - length) >> 1;
  return { after: keys[from]!, before: keys[from + length - 1]! };
}

/** Microseconds of each of several runs. */
function timesOf(work: () => unknown, times: number): number[] {
  return Array.from({ length: times }, () => {
    const started = performance.now();
    work();
    return (performance.now() - started) * 1000;
  });
}
