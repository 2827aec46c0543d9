import { Runs } from './runs.js';
import { createMeter, type Meter, PIECE } from './work.js';

/**
 * Memory that queries reuse. One query uses a set of it at a time, from its first piece of work to its last; what
 * it returns is valid until the next query starts.
 */
export interface Scratch {
  readonly meter: Meter;
  readonly runs: Runs;
  /** Rows or ranks of the matches, as many as the dataset has rows. */
  readonly matches: Int32Array;
  /** A bit for each rank, or for each row, all zero between queries. */
  readonly bits: Int32Array;
  /** How many bits are set in each span of {@link BITS_PER_SPAN} ranks, all zero between queries. */
  readonly spans: Int32Array;
  /** Of up to {@link FEW} matches: what they are sorted by, and both when sorted. */
  readonly few: {
    readonly keys: Float64Array;
    readonly sortedKeys: Float64Array;
    readonly sortedRows: Int32Array;
  };
  /** Where each bucket of the few begins, then where it ends. */
  readonly buckets: Int32Array;
  /** The rows of the page. */
  readonly page: Uint32Array;
}

export const SPAN_SHIFT = 12;
export const BITS_PER_SPAN: number = 1 << SPAN_SHIFT;
export const MAX_PAGE_ROWS = 1000;
/** Up to here matches are few: sorting them by hand beats the native sort, whose call alone takes a microsecond. */
export const FEW = 1_024;
export const BUCKETS = 256;

export function createScratch(rows: number, piece: number = PIECE): Scratch {
  const spans = Math.ceil(rows / BITS_PER_SPAN);
  return {
    meter: createMeter(piece),
    runs: new Runs(),
    matches: new Int32Array(rows),
    bits: new Int32Array((spans * BITS_PER_SPAN) / 32),
    spans: new Int32Array(spans),
    few: {
      keys: new Float64Array(FEW),
      sortedKeys: new Float64Array(FEW),
      sortedRows: new Int32Array(FEW),
    },
    buckets: new Int32Array(BUCKETS),
    page: new Uint32Array(MAX_PAGE_ROWS),
  };
}

/** Makes the memory ready for the next query after one that did not come to its end. */
export function wipe({ bits, spans }: Scratch): void {
  bits.fill(0);
  spans.fill(0);
}
