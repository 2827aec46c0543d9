import * as assert from 'uvu/assert';
import type { DeltaMatches } from '../../src/index/delta.js';
import type { Filters, Query } from '../../src/model/query.js';
import type { AccessPath, Driver } from '../../src/query/common/plan.js';
import type { Engine, Hints, PageRows } from '../../src/query/engine.js';
import { idsOf } from './engine.js';
import type { Note } from './notes.js';
import type { Expected } from './oracle.js';

/**
 * Asserts that the engine's page is the oracle's. `label` says how to reproduce the query;
 * `accepted` are the points of the delta that belong to the answer, too.
 */
export function assertPage(
  engine: Engine,
  query: Query,
  expected: Expected,
  label: string,
  accepted?: DeltaMatches,
  hints: Hints = {},
): void {
  const { page: wanted, pageSize } = query;
  const { count } = expected;
  const pageCount = Math.max(1, Math.ceil(count / pageSize));
  const page = wanted === 'last' ? pageCount : wanted;
  const answer = engine.run(query, hints, accepted);
  if (page > pageCount) {
    assert.is(answer, undefined, `${label}: a page past the end`);
    return;
  }
  if (answer === undefined) throw new Error(`${label}: no page ${page} of ${pageCount}`);
  const about = [answer.count, answer.page, answer.pageCount];
  assert.equal(about, [count, page, pageCount], `${label}: count, page, pages`);
  const notes = expected.slice((page - 1) * pageSize, page * pageSize);
  const { rows, length, delta } = answer;
  assertNotes(idsOf(engine.dataset, rows, length, delta), notes, expected, label);
}

/** Asserts that these are the ids of `notes` in order, but for ties of distance. */
export function assertNotes(
  ids: readonly number[],
  notes: readonly Note[],
  expected: Expected,
  label: string,
): void {
  assert.is(ids.length, notes.length, `${label}: length`);
  if (notes.every((note, i) => note.id === ids[i])) return;
  const { distances, notes: all } = expected;
  if (distances === undefined) {
    const at = notes.findIndex((note, i) => note.id !== ids[i]);
    throw new Error(`${label}: ${ids[at]} instead of ${notes[at]!.id} at place ${at}`);
  }
  const byId = new Map(all.map((note) => [note.id, note]));
  assert.is(new Set(ids).size, ids.length, `${label}: an id twice`);
  for (const [i, id] of ids.entries()) {
    const note = byId.get(id);
    if (note === undefined) throw new Error(`${label}: ${id} is no match`);
    const [got, want] = [distances.get(note)!, distances.get(notes[i]!)!];
    // rounding of coordinates near 180 degrees makes 1e-8 m
    const tolerance = want * 1e-9 + 1e-8;
    assert.ok(
      Math.abs(got - want) <= tolerance,
      `${label}: place ${i} is at ${got}, not ${want} m`,
    );
    const next = byId.get(ids[i + 1]!);
    if (next !== undefined && next.lon === note.lon && next.lat === note.lat) {
      assert.ok(id < next.id, `${label}: one place, but ${id} before ${next.id}`);
    }
  }
}

/** Asserts that every access path that a planner could choose gives the same page. */
export function assertHints(engine: Engine, query: Query, label: string): void {
  const chosen = pageOf(engine.run(query));
  for (const hints of everyHint(query.filters)) {
    const forced = pageOf(engine.run(query, hints));
    assert.equal(forced, chosen, `${label} with ${JSON.stringify(hints)}`);
  }
}

/** The ids of all pages of a query. */
export function allPages(engine: Engine, query: Omit<Query, 'page'>): number[] {
  const ids: number[] = [];
  for (let page = 1; ; page++) {
    const answer = engine.run({ ...query, page });
    if (answer === undefined) return ids;
    ids.push(...idsOf(engine.dataset, answer.rows, answer.length));
  }
}

/** A page without its `work`, which differs by access path. */
function pageOf(page: PageRows | undefined): unknown {
  return page && { ...page, rows: [...page.rows.subarray(0, page.length)], work: undefined };
}

export function everyHint({ boxes, circle, createdAt, modifiedAt }: Filters): Hints[] {
  const drivers: Driver[] = [];
  if (boxes !== undefined || circle !== undefined) drivers.push('region');
  if (createdAt !== undefined) drivers.push('createdAt');
  if (modifiedAt !== undefined) drivers.push('modifiedAt');
  if (createdAt !== undefined && modifiedAt !== undefined) drivers.push('cells');
  const ways: AccessPath[] = ['walk', 'mark', 'cells', 'select'];
  const chosen: Hints[] = [{}, ...drivers.map((driver) => ({ driver }))];
  return chosen.flatMap((one) => ways.map((accessPath) => ({ ...one, accessPath })));
}

/** Asserts that two lists are equal, and shows the first difference: a full diff takes minutes. */
export function assertSame(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  label: string,
): void {
  assert.is(actual.length, expected.length, `${label}: length`);
  for (let i = 0; i < expected.length; i++) {
    if (actual[i] !== expected[i]) assert.is(actual[i], expected[i], `${label}: item ${i}`);
  }
}
