import { allocateRecords, copyRecords, fetchRecords } from '../src/dataset/records.js';
import { Random } from '../src/generate/random.js';

const RECORDS = 1_000_000;
const RECORD_BYTES = 285;
const PAGES = 3_000;
const ROUNDS = 7;

/**
 * Shows what fetching the records of a page ahead of copying them is worth: pages of 100 records anywhere
 * in 285 MB, and pages of 100 in a stretch of 2,000, with and without. Rounds take turns; the least counts.
 */
function main(): void {
  const random = new Random(1, 'point');
  const records = allocateRecords(new Uint32Array(RECORDS).fill(RECORD_BYTES - 1));
  for (const chunk of records.chunks) chunk.fill(0x7b);
  const target = new Uint8Array(100 * RECORD_BYTES);
  const pageAt = (first: number, stretch: number): Uint32Array =>
    Uint32Array.from({ length: 100 }, () => first + random.int(stretch));

  const ways = {
    'copied one by one': (): void => {},
    'fetched, then copied': (page: Uint32Array): void => void fetchRecords(records, page, 100),
  };
  for (const [where, stretch] of [
    ['anywhere', RECORDS],
    ['neighbours', 2_000],
  ] as const) {
    const best = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, fetch] of Object.entries(ways)) {
        const pages = Array.from({ length: PAGES }, () =>
          pageAt(random.int(RECORDS - stretch + 1), stretch),
        );
        const started = performance.now();
        for (const page of pages) {
          fetch(page);
          copyRecords(records, page, 100, target, 0);
        }
        const microseconds = ((performance.now() - started) / PAGES) * 1000;
        best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, microseconds));
      }
    }
    for (const [name, microseconds] of best) {
      console.log(`${where.padEnd(11)} ${name.padEnd(21)} ${microseconds.toFixed(1)} µs a page`);
    }
  }
}

main();
