import { LRUCache } from 'lru-cache';
import type { RowSet } from '../../index/postings.js';
import { Budget } from '../../model/budget.js';
import { FEW } from './plan.js';
import { Runs } from './runs.js';

/** Working memory of queries, one at a time. Each part belongs to one stage of a query. */
export interface Scratch {
  budget: Budget;
  /** The rows of the combinations of attributes that were asked for last. */
  readonly attributeRows: LRUCache<string, RowSet>;
  readonly runs: Runs;
  /** Matches as a list of rows, as long as the dataset has rows. */
  readonly rows: Int32Array;
  readonly marks: Marks;
  readonly selection: Selection;
  /** The rows of the page, valid until the next query. */
  readonly page: Uint32Array;
}

/** Matches as a bit for each row. */
interface Marks {
  /** All zero between queries. */
  readonly bits: Int32Array;
  isUsed: boolean;
}

/** What selects a page out of matches. */
export interface Selection {
  /** A bit for each rank, all zero between queries. */
  readonly bits: Int32Array;
  /** The set bits of each span of {@link BITS_PER_SPAN} ranks, all zero between queries. */
  readonly spans: Int32Array;
  isUsed: boolean;
  /** Sort keys of up to {@link FEW} matches. */
  readonly keys: Float64Array;
  /** The keys and their rows, sorted. */
  readonly sortedKeys: Float64Array;
  readonly sortedRows: Int32Array;
  /** The start of each bucket of the sort; once filled, its end. */
  readonly buckets: Int32Array;
}

export const SPAN_SHIFT = 12;
export const BITS_PER_SPAN: number = 1 << SPAN_SHIFT;
export const MAX_PAGE_ROWS = 1000;
export const BUCKETS = 256;
/** Combinations of attributes in {@link Scratch.attributeRows}. */
const KEPT = 16;

export function createScratch(rows: number): Scratch {
  const spans = Math.ceil(rows / BITS_PER_SPAN);
  const words = (spans * BITS_PER_SPAN) / 32;
  return {
    budget: new Budget(),
    attributeRows: new LRUCache({ max: KEPT }),
    runs: new Runs(),
    rows: new Int32Array(rows),
    marks: { bits: new Int32Array(words), isUsed: false },
    selection: {
      bits: new Int32Array(words),
      spans: new Int32Array(spans),
      isUsed: false,
      keys: new Float64Array(FEW),
      sortedKeys: new Float64Array(FEW),
      sortedRows: new Int32Array(FEW),
      buckets: new Int32Array(BUCKETS),
    },
    page: new Uint32Array(MAX_PAGE_ROWS),
  };
}

export function clear({ marks, selection }: Pick<Scratch, 'marks' | 'selection'>): void {
  if (marks.isUsed) marks.bits.fill(0);
  marks.isUsed = false;
  clearSelection(selection);
}

export function clearSelection(selection: Selection): void {
  if (!selection.isUsed) return;
  selection.bits.fill(0);
  selection.spans.fill(0);
  selection.isUsed = false;
}
