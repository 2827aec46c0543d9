import { createPageCopier, fetchPage } from '../src/dataset/record-page.js';
import { allocateRecords, type Records, recordBytes } from '../src/dataset/records.js';
import { Random } from '../src/generate/random.js';

const RECORDS = 1_000_000;
/** Sizes of records, about as the generated points have them. */
const [LEAST_BYTES, MOST_BYTES] = [200, 350];
const PAGE = 100;
const PAGES = 3_000;
const ROUNDS = 7;

/**
 * Shows what fetching the records of a page ahead of copying them is worth: pages of 100 records
 * anywhere in 275 MB, and pages of 100 in a stretch of 2,000, with and without. Rounds take turns;
 * the least counts.
 */
function main(): void {
  const random = new Random(1, 'point');
  const sizeOf = (): number => LEAST_BYTES + random.int(MOST_BYTES - LEAST_BYTES);
  const records = allocateRecords(Uint32Array.from({ length: RECORDS }, sizeOf));
  for (const chunk of records.chunks) chunk.fill(0x7b);
  const target = new Uint8Array(PAGE * (MOST_BYTES + 1));
  const pageAt = (first: number, stretch: number): Uint32Array =>
    Uint32Array.from({ length: PAGE }, () => first + random.int(stretch));

  const copier = createPageCopier();
  const ways = {
    'copied one by one': (page: Uint32Array): void => copyOneByOne(records, page, target),
    'fetched, then copied': (page: Uint32Array): void => {
      copier.copy(fetchPage(records, page, PAGE), target, 0);
    },
  };
  for (const [where, stretch] of [
    ['anywhere', RECORDS],
    ['neighbours', 2_000],
  ] as const) {
    const best = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, make] of Object.entries(ways)) {
        const pages = Array.from({ length: PAGES }, () =>
          pageAt(random.int(RECORDS - stretch + 1), stretch),
        );
        const started = performance.now();
        for (const page of pages) make(page);
        const microseconds = ((performance.now() - started) / PAGES) * 1000;
        best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, microseconds));
      }
    }
    for (const [name, microseconds] of best) {
      console.log(`${where.padEnd(11)} ${name.padEnd(21)} ${microseconds.toFixed(1)} µs a page`);
    }
  }
}

function copyOneByOne(records: Records, rows: Uint32Array, target: Uint8Array): void {
  let position = 0;
  for (const row of rows) {
    const bytes = recordBytes(records, row);
    target.set(bytes, position);
    position += bytes.length;
    target[position++] = 0x2c;
  }
}

main();
