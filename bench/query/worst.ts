import { FARTHEST } from '../../src/model/geo.js';
import type { Engine } from '../../src/query/engine.js';
import type { Filters, Ordering, TimeWindow } from '../../src/query/query.js';

/** The slowest combination of filters that was found. */
export interface Worst {
  readonly combinations: number;
  readonly micros: number;
  /** In words: which filters, which ordering, which page. */
  readonly what: string;
  readonly matches: number;
}

const ORDERINGS: readonly Ordering[] = ['id', 'distance', 'created_at', '-modified_at'];
const SHARES = [0, 0.003, 0.1, 0.5, 1] as const;
const PAGES = ['first', 'middle', 'last'] as const;
const CENTRE = { lat: 60.17, lon: 24.94 };
const TIMES = 3;

/**
 * Tries boxes, circles and both time windows of every size together, in all orderings, at the first, the
 * middle and the last page, and returns the slowest by the best of a few times: noise is not what is asked for.
 */
export function findWorst(engine: Engine): Worst {
  let worst: Worst = { combinations: 0, micros: 0, what: '', matches: 0 };
  let combinations = 0;
  for (const [filters, words] of combinationsOf(engine)) {
    for (const ordering of ORDERINGS) {
      if (ordering === 'distance' && filters.circle === undefined) continue;
      const { count, pageCount } = engine.run({ filters, ordering, page: 1, pageSize: 100 })!;
      for (const which of PAGES) {
        const page = which === 'first' ? 1 : which === 'last' ? pageCount : (pageCount + 1) >> 1;
        const micros = bestOf(() => engine.run({ filters, ordering, page, pageSize: 100 }));
        combinations++;
        if (micros <= worst.micros) continue;
        const what = `${words}, by ${ordering}, ${which} page`;
        worst = { combinations: 0, micros, what, matches: count };
      }
    }
  }
  return { ...worst, combinations };
}

function* combinationsOf(engine: Engine): Generator<[Filters, string]> {
  const { dataset } = engine;
  for (const box of SHARES) {
    for (const circle of SHARES) {
      for (const created of SHARES) {
        for (const modified of SHARES) {
          const shares = { box, circle, created, modified };
          const used = Object.entries(shares).filter(([, share]) => share > 0);
          if (used.length < 2) continue;
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
    east: share === 1 ? 180 : Math.min(180, lon + 180 * share),
    north: Math.min(90, lat + 90 * share),
  };
}

function windowOf(keys: Float64Array, share: number): TimeWindow {
  const length = Math.max(1, Math.floor(keys.length * share));
  const from = (keys.length - length) >> 1;
  return { after: keys[from]!, before: keys[from + length - 1]! };
}

function bestOf(work: () => unknown): number {
  let best = Infinity;
  for (let i = 0; i < TIMES; i++) {
    const started = performance.now();
    work();
    best = Math.min(best, performance.now() - started);
  }
  return best * 1000;
}
