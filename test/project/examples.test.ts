import { join } from 'node:path';
import type { Envelope } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { ROOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const service = await startOwnService([
  ...['--snapshot', join(ROOT, 'data/sample.waypost')],
  ...['--time-zone', 'Europe/Helsinki'],
]);

/** One query of each kind that the specification shows, and the least that it must find. */
const EXAMPLES: Readonly<Record<string, [query: string, least: number]>> = {
  'a box in the order of creation': ['bbox=24.94,60.16,24.96,60.18&ordering=created_at', 100],
  'a later page of a box': ['bbox=24.90,60.15,25.00,60.20&ordering=-modified_at&page=2', 101],
  'a window of time': [
    'created_at_after=2023-05-01T00:00:00Z&created_at_before=2023-06-01T00%3A00%3A00Z&ordering=created_at',
    10,
  ],
  'a page of the nearest': ['coordinates=60.166,24.951,1000&page=2', 101],
};

for (const [name, [query, least]] of Object.entries(EXAMPLES)) {
  test(`the sample data has ${name}`, async () => {
    const reply = await service.get(`/rest/map_data_points/?${query}`);
    assert.is(reply.status, 200);
    const { count, results, previous } = reply.json<Envelope>();
    assert.ok(count >= least, `${count} found`);
    assert.ok(results.length > 0);
    assert.is(previous !== null, query.includes('page=2'));
  });
}

test('following the links visits every point once', async () => {
  const seen = new Set<unknown>();
  let path: string | undefined = '/rest/map_data_points/?ordering=-created_at&page_size=1000';
  let total = 0;
  while (path !== undefined) {
    const { count, next, results }: Envelope = (await service.get(path)).json();
    total = count;
    for (const { id } of results) seen.add(id);
    path = next === null ? undefined : next.slice(new URL(next).origin.length);
  }
  assert.is(seen.size, total);
  assert.ok(total >= 5000);
});

test.run();
