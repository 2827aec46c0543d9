import type { Postings } from './postings.js';
import type { Texts } from './texts.js';

/** Rows by a text that they have. */
export interface TextAttribute {
  readonly texts: Texts;
  /** Rows by the number of the text. */
  readonly postings: Postings;
}

/** What stands for "no user" among the users. */
export const NOBODY = -1;

/**
 * What filters may ask of points besides place and times, by value: an inverted index, in shared
 * memory. A value takes 4 bytes for each row that has it, and a bit for every row at most.
 */
export interface Attributes {
  readonly status: TextAttribute;
  readonly tags: TextAttribute;
  readonly createdBy: {
    /** Ascending, the first is {@link NOBODY}. */
    readonly users: Float64Array;
    readonly postings: Postings;
  };
  /** Rows by 0 for false and 1 for true. */
  readonly isProcessed: Postings;
  readonly hasImage: Postings;
}
