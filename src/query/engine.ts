import type { Dataset } from '../dataset/dataset.js';
import type { Order } from '../dataset/order.js';
import type { RowSet } from '../dataset/postings.js';
import type { Tail, TailMatches } from '../dataset/tail.js';
import type { Filters, Ordering, Query } from '../model/query.js';
import type { Matches } from './common/matches.js';
import type { Driver, Form, Way } from './common/plan.js';
import { createScratch, type Scratch } from './common/scratch.js';
import { andThen, drain, isWork, NO_WAY, PIECE, type Step } from './common/work.js';
import { findMatches } from './match.js';
import { takeMerged } from './merge.js';
import { takeNearest } from './page/nearest.js';
import { type Places, takeOrdered } from './page/ordered.js';
import { scanMatches, type Visitor } from './scan.js';
import { Memory, Suspended } from './suspended.js';

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
  /**
   * The page's rows, in order, are the first `length` of these; valid until the next query. Those
   * from the dataset's `count` on are rows of the tail, from 0.
   */
  readonly rows: Uint32Array;
  readonly length: number;
  /** Has the rows that are not the dataset's; undefined where there are none. */
  readonly tail: Tail | undefined;
  /** What the page took. */
  readonly effort: Effort;
}

/** How a page was come by. */
export interface Effort {
  /** Rows that were looked at one by one. */
  readonly looks: number;
  /** The form that the matches had. */
  readonly form: Form;
  /** As `Meter` names it. */
  readonly way: string;
}

/** A page; undefined when the page asked for lies past the end. */
export type Answer = Page | undefined;

/**
 * Answers queries on one dataset. `accepted` are the matches of a query among the points that were
 * accepted since, which belong to its answer: `matchTail` finds them.
 */
export interface Engine {
  readonly dataset: Dataset;
  /** Works to the end without a pause. */
  run(query: Query, hints?: Hints, accepted?: TailMatches): Answer;
  /** Works for one {@link PIECE} at most, which suffices for nearly every query. */
  begin(query: Query, hints?: Hints, accepted?: TailMatches): Answer | Suspended<Answer>;
  /**
   * Hands all matches to a visitor, rows ascending and `accepted` last, and returns their number.
   * Works to the end without a pause.
   */
  scan(filters: Filters, visit: Visitor, hints?: Hints, accepted?: TailMatches): number;
  /**
   * The same in pieces, of which none is done yet: a visitor is called while the scan is resumed,
   * only.
   */
  beginScan(
    filters: Filters,
    visit: Visitor,
    hints?: Hints,
    accepted?: TailMatches,
  ): Suspended<number>;
  /**
   * Hands all matches to `use`, in the form that was cheapest to find, and returns what it makes of
   * them. Works to the end without a pause.
   */
  collect<T>(filters: Filters, use: Use<T>, hints?: Hints): T;
  /** The same, of which one {@link PIECE} at most is done yet. `use` may have to start anew. */
  beginCollect<T>(filters: Filters, use: Use<T>, hints?: Hints): T | Suspended<T>;
}

/** Makes something of matches, which are valid until it ends. */
export type Use<T> = (matches: Matches, scratch: Scratch) => Step<T>;

/**
 * Makes an engine; its working memory is some 4 bytes a row, and as much again once a query was
 * suspended. `piece` is the cost of a piece of work.
 */
export function createEngine(dataset: Dataset, piece: number = PIECE): Engine {
  const attributeRows = new Map<string, RowSet>();
  const memory = new Memory(() => createScratch(dataset.count, piece, attributeRows));
  return {
    dataset,
    run: (query, hints = NO_HINTS, accepted = undefined) =>
      toEnd(memory, (scratch) => answerOf(dataset, scratch, query, hints, accepted)),
    begin: (query, hints = NO_HINTS, accepted = undefined) =>
      begin(memory, (scratch) => answerOf(dataset, scratch, query, hints, accepted)),
    scan: (filters, visit, { driver } = {}, accepted = undefined) =>
      toEnd(memory, (scratch) => scanMatches(dataset, scratch, filters, visit, driver, accepted)),
    beginScan: (filters, visit, { driver } = {}, accepted = undefined) =>
      new Suspended(memory, (scratch) =>
        scanMatches(dataset, scratch, filters, visit, driver, accepted),
      ),
    collect: (filters, use, { driver } = {}) =>
      toEnd(memory, (scratch) => useOf(scratch, filters, use, driver)),
    beginCollect: (filters, use, { driver } = {}) =>
      begin(memory, (scratch) => useOf(scratch, filters, use, driver)),
  };

  function useOf<T>(scratch: Scratch, filters: Filters, use: Use<T>, driver?: Driver): Step<T> {
    return andThen(findMatches(dataset, scratch, filters, driver), (matches) =>
      use(matches, scratch),
    );
  }
}

/** Does work to its end. */
function toEnd<T>(memory: Memory, work: (scratch: Scratch) => Step<T>): T {
  const scratch = memory.take();
  const result = drain(work(scratch), scratch.meter);
  memory.giveBack(scratch);
  return result;
}

/** Does the first piece of work; what is not done then can be resumed, or begins again. */
function begin<T>(memory: Memory, work: (scratch: Scratch) => Step<T>): T | Suspended<T> {
  const scratch = memory.take();
  const step = work(scratch);
  if (!isWork(step)) {
    memory.giveBack(scratch);
    return step;
  }
  const { done, value } = step.next();
  if (!done) return new Suspended(memory, work, { scratch, work: step });
  memory.giveBack(scratch);
  return value;
}

const NO_HINTS: Hints = {};

/** The stages of a query: the matches, then the page. */
function answerOf(
  dataset: Dataset,
  scratch: Scratch,
  query: Query,
  hints: Hints,
  accepted: TailMatches | undefined,
): Step<Answer> {
  scratch.meter.looks = 0;
  scratch.meter.way = NO_WAY;
  return andThen(findMatches(dataset, scratch, query.filters, hints.driver), (matches) =>
    pageOf(dataset, scratch, query, matches, hints, accepted),
  );
}

function pageOf(
  dataset: Dataset,
  scratch: Scratch,
  query: Query,
  matches: Matches,
  hints: Hints,
  accepted: TailMatches | undefined,
): Step<Answer> {
  const { filters, ordering } = query;
  const count = matches.count + (accepted === undefined ? 0 : accepted.rows.length);
  const place = locate(query, count);
  if (place === undefined) return undefined;
  const { page, pageCount, from, to } = place;
  const tail = accepted?.tail;
  const length = to - from;
  const { form } = matches;
  const done = (): Page => {
    const effort = { looks: scratch.meter.looks, form, way: scratch.meter.way };
    return { count, page, pageCount, rows: scratch.page, length, tail, effort };
  };
  if (from === to) return done();
  if (accepted !== undefined) {
    const taking = mergeIn(dataset, scratch, query, matches, hints, accepted, place);
    return andThen(taking, done);
  }
  if (ordering === 'distance') {
    const taking = takeNearest(dataset, scratch, matches, filters, place, hints.way);
    return andThen(taking, done);
  }
  const [order, descending] = orderOf(dataset, ordering);
  const taking = takeOrdered(dataset, scratch, matches, order, descending, place, hints.way);
  return andThen(taking, done);
}

/** Takes a page of the matches and of accepted points. */
function mergeIn(
  dataset: Dataset,
  scratch: Scratch,
  { filters, ordering }: Query,
  matches: Matches,
  hints: Hints,
  accepted: TailMatches,
  { from, to }: Places,
): Step<void> {
  const { count } = matches;
  if (ordering === 'distance') {
    const take = (room: Scratch, places: Places): Step<void> =>
      takeNearest(dataset, room, matches, filters, places, hints.way);
    return takeMerged(dataset, scratch, { count, take }, accepted, filters, undefined, {
      from,
      to,
    });
  }
  const [order, descending] = orderOf(dataset, ordering);
  const take = (room: Scratch, places: Places): Step<void> =>
    takeOrdered(dataset, room, matches, order, false, places, hints.way);
  const own = { count, take };
  if (!descending) return takeMerged(dataset, scratch, own, accepted, filters, order, { from, to });
  // descending pages are ascending ones counted from the end, turned round
  const all = count + accepted.rows.length;
  const places = { from: all - to, to: all - from };
  return andThen(takeMerged(dataset, scratch, own, accepted, filters, order, places), () => {
    scratch.page.subarray(0, to - from).reverse();
  });
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
