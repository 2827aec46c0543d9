import { join } from 'node:path';
import { type Envelope, LIST } from '../support/client.js';
import { read } from '../support/documents.js';
import { startOwnService } from '../support/own-service.js';
import { ROOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

const { get } = await startOwnService([
  ...['--snapshot', join(ROOT, 'data/sample.waypost'), '--time-zone', 'Europe/Helsinki'],
]);

/** A query of each kind that the specification shows, and the least that it must find. */
const EXAMPLES: readonly (readonly [query: string, least: number])[] = [
  ['bbox=24.94,60.16,24.96,60.18&ordering=created_at', 101],
  ['bbox=24.90,60.15,25.00,60.20&ordering=-modified_at&page=2', 101],
  [
    'created_at_after=2023-05-01T00:00:00Z&created_at_before=2023-06-01T00%3A00%3A00Z&ordering=created_at',
    10,
  ],
  ['coordinates=60.166,24.951,1000&page=2', 101],
];

test('the queries of the specification find enough in the sample', async () => {
  for (const [query, least] of EXAMPLES) {
    const { count, results, previous } = (await get(`${LIST}?${query}`)).json<Envelope>();
    assert.ok(count >= least && results.length > 0, `${query}: ${count} found`);
    assert.is(previous !== null, query.includes('page=2'));
  }
});

test('the questions of the README have the answers that it shows', async () => {
  const examples = [
    ...read('README.md').matchAll(
      /curl 'http:\/\/127\.0\.0\.1:8080([^']+)'\n```\n\n```text\n(.*?)```/gs,
    ),
  ];
  assert.is(examples.length, 4);
  const named = read('docs/parameters.md').matchAll(/"([0-9a-f]{16})[."]/g);
  const names = [...new Set([...named].map(([, name]) => name))];
  for (const [, target, shown] of examples) {
    const reply = await get(target!, { headers: { Host: '127.0.0.1:8080' } });
    const answer = reply.json<Envelope>();
    const first = { ...answer, results: answer.results.slice(0, 1) };
    // compared as values: the README breaks lines
    assert.equal(JSON.parse(shown!.replace(/,…\]\}\s*$/, ']}')), first, target);
    const [snapshot] = /\w+/.exec(reply.headers['waypost-snapshot'] as string)!;
    assert.equal(names, [snapshot]);
  }
});

test.run();
