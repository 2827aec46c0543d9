import type { LRUCache } from 'lru-cache';
import type { Dataset } from '../../index/dataset.js';
import { lowerBound, type Row } from '../../index/order.js';
import {
  type Attributes,
  bitCount,
  bytesOf,
  numberOf,
  type RowSet,
  rowsWith,
  type TextAttribute,
  wordsOf,
} from '../../index/postings.js';
import { type Budget, inStretches } from '../../model/budget.js';
import type { Filters } from '../../model/query.js';
import { bitOf, listMarked, markRows } from './marks.js';
import { MARKED, RUN_TEST } from './plan.js';

/** Nanoseconds to combine, count or make a word of a bitmap. */
const WORD = 1;

const NONE: RowSet = { count: 0, rows: new Int32Array(0) };

/** Values of one attribute, any of which a row must have. */
interface Clause {
  readonly sets: readonly RowSet[];
  /** An upper bound of the rows: the sum of all sets. */
  readonly most: number;
}

function attributeFilters(filters: Filters): unknown[] {
  const { statuses, isProcessed, tags, tagsAll, createdBy, hasImage } = filters;
  return [statuses, isProcessed, tags, tagsAll, createdBy, hasImage];
}

/** Whether filters ask for more than place and time. */
export function haveAttributes(filters: Filters): boolean {
  return attributeFilters(filters).some((one) => one !== undefined);
}

/**
 * Finds the rows that have the attributes which filters ask for; nobody may change them. `kept` has
 * those of the last combinations, since a map asks for many boxes with one combination.
 */
export function findAttributeRows(
  { attributes, count }: Pick<Dataset, 'attributes' | 'count'>,
  kept: LRUCache<string, RowSet>,
  filters: Filters,
  budget: Budget,
): RowSet {
  const clauses = clausesOf(attributes, filters).sort((a, b) => a.most - b.most);
  const [first] = clauses;
  if (first === undefined || first.most === 0) return NONE;
  if (clauses.length === 1 && first.sets.length === 1) return first.sets[0]!;
  const key = JSON.stringify(attributeFilters(filters));
  const known = kept.get(key);
  if (known !== undefined) return known;
  const words = wordsOf(count);
  const list = first.sets.length === 1 ? first.sets[0]!.rows : undefined;
  const rows =
    list === undefined
      ? joinBits(clauses, words, budget)
      : keepCommon(list, clauses.slice(1), words, budget);
  kept.set(key, rows);
  return rows;
}

function clausesOf(attributes: Attributes, filters: Filters): Clause[] {
  const { statuses, isProcessed, tags, tagsAll, createdBy, hasImage } = filters;
  const clauses: Clause[] = [];
  if (statuses !== undefined) clauses.push(anyOf(attributes.status, statuses));
  if (tags !== undefined) clauses.push(anyOf(attributes.tags, tags));
  if (createdBy !== undefined) {
    const users = createdBy.map((user) => String(user ?? ''));
    clauses.push(anyOf(attributes.createdBy, users));
  }
  for (const tag of tagsAll ?? []) clauses.push(anyOf(attributes.tags, [tag]));
  if (isProcessed !== undefined) clauses.push(anyOf(attributes.isProcessed, [String(isProcessed)]));
  if (hasImage !== undefined) clauses.push(anyOf(attributes.hasImage, [String(hasImage)]));
  return clauses;
}

/** Texts that no row has add nothing. */
function anyOf({ texts, postings }: TextAttribute, wanted: readonly string[]): Clause {
  const sets: RowSet[] = [];
  let most = 0;
  for (const text of wanted) {
    const value = numberOf(texts, bytesOf(text));
    if (value < 0 || postings.counts[value] === 0) continue;
    sets.push(rowsWith(postings, value));
    most += postings.counts[value]!;
  }
  return { sets, most };
}

function keepCommon(
  list: Int32Array,
  clauses: readonly Clause[],
  words: number,
  budget: Budget,
): RowSet {
  const kept = list.slice();
  let count = kept.length;
  for (const clause of clauses) {
    const cost = clause.sets.reduce((sum, { bits }) => sum + (bits ? MARKED : RUN_TEST), 0);
    // many values are quicker to look up in one bitmap
    const marking = clause.sets.length * words * WORD + clause.most * MARKED;
    const isJoined = count * cost > marking + count * MARKED;
    const sets = isJoined ? [{ bits: unionOf(clause, words, budget) }] : clause.sets;
    let end = 0;
    const test = (from: number, to: number): void => {
      for (let i = from; i < to; i++) {
        const row = kept[i]!;
        if (sets.some((set) => hasRow(set, row))) kept[end++] = row;
      }
    };
    inStretches(budget, 0, count, isJoined ? MARKED : cost, test);
    count = end;
  }
  return { count, rows: kept.subarray(0, count) };
}

export function hasRow({ bits, rows }: Pick<RowSet, 'bits' | 'rows'>, row: Row): boolean {
  if (bits !== undefined) return bitOf(bits, row) === 1;
  return rows![lowerBound(rows!, row)] === row;
}

/** The rows that satisfy all clauses, as bits, or as a list where that is smaller. */
function joinBits(clauses: readonly Clause[], words: number, budget: Budget): RowSet {
  const [first, ...others] = clauses;
  const bits = unionOf(first!, words, budget);
  for (const clause of others) {
    const [{ bits: frequent } = NONE] = clause.sets.length === 1 ? clause.sets : [];
    const other = frequent ?? unionOf(clause, words, budget);
    inStretches(budget, 0, words, WORD, (from, to) => {
      for (let word = from; word < to; word++) bits[word]! &= other[word]!;
    });
  }
  let count = 0;
  inStretches(budget, 0, words, WORD, (from, to) => {
    for (let word = from; word < to; word++) count += bitCount(bits[word]!);
  });
  if (count > words) return { count, bits };
  const rows = new Int32Array(count);
  let end = 0;
  inStretches(budget, 0, words, WORD, (from, to) => {
    end = listMarked(bits, rows, end, from << 5, to << 5);
  });
  return { count, rows };
}

/** A new bitmap of the rows that have one of the values. */
function unionOf({ sets }: Clause, words: number, budget: Budget): Int32Array {
  const union = new Int32Array(words);
  budget.charge(words * WORD);
  for (const { bits, rows } of sets) {
    if (bits === undefined) {
      inStretches(budget, 0, rows.length, MARKED, (from, to) => markRows(union, rows, from, to));
    } else {
      inStretches(budget, 0, words, WORD, (from, to) => {
        for (let word = from; word < to; word++) union[word]! |= bits[word]!;
      });
    }
  }
  return union;
}
