import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Filters, Ordering } from '../../src/model/query.js';
import type { Hints } from '../../src/query/engine.js';
import { engineOf, idsOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';

const SEED = 4712;
const notes = scatterNotes(SEED, 20_000);
const engine = await engineOf(notes);

test('rows of a window are told by the marks of a region as by a test of each', () => {
  const times = notes.map(({ created }) => created).sort((a, b) => a - b);
  const changes = notes.map(({ modified }) => modified).sort((a, b) => a - b);
  const circle = { lat: 60.17, lon: 24.94, radius: 18_500_000 };
  const createdAt = { after: times[8_000]!, before: times[9_200]! };
  const modifiedAt = { after: changes[600]!, before: changes[19_400]! };
  const boxes = [{ west: -170, south: -85, east: 170, north: 85 }];
  const asked: readonly Filters[] = [
    { circle, createdAt },
    { boxes, createdAt },
    { circle, createdAt, modifiedAt },
    { circle, boxes, createdAt, modifiedAt },
  ];
  for (const filters of asked) {
    for (const ordering of ['id', 'created_at', '-modified_at', 'distance'] as Ordering[]) {
      if (ordering === 'distance' && filters.circle === undefined) continue;
      const page = (hints: Hints): [number, number[]] => {
        const answer = engine.run({ filters, ordering, page: 2, pageSize: 50 }, hints)!;
        return [answer.count, idsOf(engine.dataset, answer.rows, answer.length)];
      };
      const expected = page({ driver: 'createdAt' });
      const label = JSON.stringify({ filters, ordering });
      assert.ok(expected[0] > 100 && expected[0] <= 1_201, `${expected[0]}: ${label}`);
      for (const accessPath of ['walk', 'mark', 'select'] as const) {
        assert.equal(page({ accessPath }), expected, label);
        assert.equal(page({ driver: 'region' }), expected, `after ${label}`);
      }
    }
  }
});

test.run();
