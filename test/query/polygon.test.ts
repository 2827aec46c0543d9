import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePolygon } from '../../src/http/request/filters.js';
import type { Filters, Ordering, Polygon } from '../../src/model/query.js';
import { acceptedMatches, deltaOf, engineOf, idsOf } from '../support/engine.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import {
  PlainPolygon,
  randomRings,
  textOfRings,
  type WrittenRing,
} from '../support/plain-polygon.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';

const SEED = 21;
const SERVED = 9_000;
const notes = scatterNotes(SEED, 9_600);
const engine = await engineOf(notes.slice(0, SERVED));
const delta = deltaOf(notes.slice(SERVED));
const oracle = new Oracle(notes);

/** A polygon of twelve places around a note, every other one as near as `shape` says. */
function around({ lon, lat }: Note, size: number, shape: number): WrittenRing[] {
  const ring = Array.from({ length: 12 }, (_, i) => {
    const far = i % 2 === 0 ? size : size * shape;
    const angle = (i / 6) * Math.PI;
    const y = Math.round(lat * 100 + far * Math.sin(angle));
    return [
      Math.round(lon * 100 + far * Math.cos(angle)),
      Math.max(-9_000, Math.min(9_000, y)),
    ] as const;
  });
  return [ring];
}

function allIds(filters: Filters, ordering: Ordering): number[] {
  const accepted = acceptedMatches(delta, notes.length - SERVED, filters);
  const ids: number[] = [];
  for (let page = 1, pageCount = 1; page <= pageCount; page++) {
    const answer = engine.run({ filters, ordering, page, pageSize: 1000 }, {}, accepted)!;
    ids.push(...idsOf(engine.dataset, answer.rows, answer.length, answer.delta));
    pageCount = answer.pageCount;
    assert.ok(answer.count <= notes.length && answer.count >= ids.length);
  }
  return ids;
}

test('a polygon goes together with every other filter and order, and with accepted points', () => {
  let found = 0;
  for (let index = 0; index < 2 * COMBINATIONS; index++) {
    const { filters: others, ordering } = randomQuestion(SEED, index, notes);
    const size = 10 ** ((index % 9) / 2);
    const rings =
      index % 3 === 0
        ? randomRings(SEED, index)
        : around(notes[(index * 37) % notes.length]!, size, index % 2 === 0 ? 1 : 0.3);
    const filters = { ...others, polygon: parsePolygon(textOfRings(rings)) as Polygon };
    const plain = new PlainPolygon(rings);
    const expected = oracle
      .find(others, ordering)
      .notes.filter(({ lon, lat }) => plain.holds(lon * 100, lat * 100))
      .map(({ id }) => id);
    const ids = allIds(filters, ordering);
    // equal distances but for rounding may change places
    if (ordering === 'distance') for (const list of [ids, expected]) list.sort((a, b) => a - b);
    assert.equal(ids, expected, `seed ${SEED}, question ${index}: ${textOfRings(rings)}`);
    found += ids.length;
  }
  assert.ok(found > 5_000, `${found} found`);
});

test.run();
