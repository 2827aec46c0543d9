import * as assert from 'uvu/assert';
import { type Delta, deltaLength } from '../../src/index/delta.js';
import type { Filters, Query } from '../../src/model/query.js';
import type { AccessPath, Driver } from '../../src/query/common/plan.js';
import type { Engine, Hints, PageRows } from '../../src/query/engine.js';
import { acceptedMatches, idsOf } from './engine.js';
import type { Note } from './notes.js';
import type { Expected, Oracle } from './oracle.js';
import type { Question } from './queries.js';

/** An engine, the points that are accepted besides, and the oracle of both. */
interface Asked {
  readonly engine: Engine;
  readonly oracle: Oracle;
  readonly delta?: Delta | undefined;
  /** The rows of the delta that count; all when absent. */
  readonly length?: number | undefined;
  readonly hints?: Hints | undefined;
}

/**
 * Asserts that the engine's page is the oracle's. Returns the query, and a label that says how to
 * reproduce it.
 */
export function assertQuestion(
  { engine, oracle, delta, length = delta && deltaLength(delta), hints = {} }: Asked,
  { filters, ordering, pageOf }: Question,
  about: string,
): [query: Query, label: string] {
  const expected = oracle.find(filters, ordering);
  const count = expected.notes.length;
  const query: Query = { filters, ordering, ...pageOf(count) };
  const label = `${about}: ${JSON.stringify(query)}`;
  const accepted = delta && acceptedMatches(delta, length!, filters);
  const answer = engine.run(query, hints, accepted);
  const { pageSize } = query;
  const pageCount = Math.max(1, Math.ceil(count / pageSize));
  const page = query.page === 'last' ? pageCount : query.page;
  if (page > pageCount) {
    assert.is(answer, undefined, `${label}: a page past the end`);
    return [query, label];
  }
  if (answer === undefined) throw new Error(`${label}: no page ${page} of ${pageCount}`);
  const told = [answer.count, answer.page, answer.pageCount];
  assert.equal(told, [count, page, pageCount], `${label}: count, page, pages`);
  const notes = expected.notes.slice((page - 1) * pageSize, page * pageSize);
  const ids = idsOf(engine.dataset, answer.rows, answer.length, answer.delta);
  assertNotes(ids, notes, expected, label);
  return [query, label];
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
  const { distanceOf, notes: all } = expected;
  if (distanceOf === undefined) {
    const at = notes.findIndex((note, i) => note.id !== ids[i]);
    throw new Error(`${label}: ${ids[at]} instead of ${notes[at]!.id} at place ${at}`);
  }
  const byId = new Map(all.map((note) => [note.id, note]));
  assert.is(new Set(ids).size, ids.length, `${label}: an id twice`);
  for (const [i, id] of ids.entries()) {
    const note = byId.get(id);
    if (note === undefined) throw new Error(`${label}: ${id} is no match`);
    const [got, want] = [distanceOf(note), distanceOf(notes[i]!)];
    // rounding of coordinates near 180 degrees makes 1e-8 m
    const tolerance = want * 1e-9 + 1e-8;
    const what = `${label}: place ${i} is at ${got}, not ${want} m`;
    assert.ok(Math.abs(got - want) <= tolerance, what);
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
export function assertSame(got: ArrayLike<number>, want: ArrayLike<number>, label: string): void {
  assert.is(got.length, want.length, `${label}: length`);
  for (let i = 0; i < want.length; i++) {
    if (got[i] !== want[i]) assert.is(got[i], want[i], `${label}: item ${i}`);
  }
}
