import type { Dataset } from '../dataset/dataset.js';
import type { Order } from '../dataset/order.js';
import { findMatches } from './match.js';
import { takeNearest } from './page/nearest.js';
import { takeOrdered } from './page/ordered.js';
import type { Driver, Way } from './plan.js';
import type { Ordering, Query } from './query.js';
import { createScratch } from './scratch.js';

/** Overrides of the planner, for tests that every way gives the same page. */
export interface Hints {
  readonly driver?: Driver;
  readonly way?: Way;
}

/** One page of an answer. */
export interface Page {
  /** Matches on all pages. */
  readonly count: number;
  /** From 1. */
  readonly page: number;
  /** At least 1. */
  readonly pageCount: number;
  /** The page's rows, in order, are the first `length` of these; valid until the next query. */
  readonly rows: Uint32Array;
  readonly length: number;
}

/** Answers queries on one dataset. */
export interface Engine {
  readonly dataset: Dataset;
  /** Undefined when the page asked for lies past the end. */
  run(query: Query, hints?: Hints): Page | undefined;
}

/** Makes an engine; its working memory is some 4 bytes a row. */
export function createEngine(dataset: Dataset): Engine {
  const scratch = createScratch(dataset.count);
  return {
    dataset,
    run(query, hints = {}) {
      const { filters, ordering } = query;
      const matches = findMatches(dataset, scratch, filters, hints.driver);
      const place = locate(query, matches.count);
      if (place === undefined) return undefined;
      if (place.from < place.to) {
        if (ordering === 'distance') {
          takeNearest(dataset, scratch, matches, filters, place, hints.way);
        } else {
          const [order, descending] = orderOf(dataset, ordering);
          takeOrdered(dataset, scratch, matches, order, descending, place, hints.way);
        }
      }
      const { page, pageCount, from, to } = place;
      return { count: matches.count, page, pageCount, rows: scratch.page, length: to - from };
    },
  };
}

interface Place {
  readonly page: number;
  readonly pageCount: number;
  /** The page's matches are at places `from` to `to - 1` of the order. */
  readonly from: number;
  readonly to: number;
}

function locate({ page: wanted, pageSize }: Query, count: number): Place | undefined {
  const pageCount = Math.max(1, Math.ceil(count / pageSize));
  const page = wanted === 'last' ? pageCount : wanted;
  if (page > pageCount) return undefined;
  const from = (page - 1) * pageSize;
  return { page, pageCount, from, to: Math.min(from + pageSize, count) };
}

function orderOf(dataset: Dataset, ordering: Exclude<Ordering, 'distance'>): [Order, boolean] {
  switch (ordering) {
    case 'id':
      return [dataset.byId, false];
    case 'created_at':
      return [dataset.byCreatedAt, false];
    case '-created_at':
      return [dataset.byCreatedAt, true];
    case 'modified_at':
      return [dataset.byModifiedAt, false];
    case '-modified_at':
      return [dataset.byModifiedAt, true];
  }
}
