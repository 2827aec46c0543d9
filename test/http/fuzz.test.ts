import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Envelope } from '../support/client.js';
import { createHostileQueries, type HostileQuery } from '../support/hostile-queries.js';
import { openPipeline, type Pipeline, type RawAnswer } from '../support/pipeline.js';
import { FIXTURE_POINTS, startService } from '../support/service.js';

const QUERIES = 100_000;
const CONNECTIONS = 8;
const BATCH = 50;
const SEED = 20_240_229;
/** What garbage collection and caches may add after the first third. */
const GROWTH = 60e6;

const service = await startService([
  ...['--snapshot', FIXTURE_POINTS],
  ...['--time-zone', 'Europe/Helsinki'],
  // full early on, so that it does not look like a leak
  ...['--answer-cache', '4MiB'],
  // a busy machine is no fault of the queries
  ...['--max-loop-delay', '0'],
]);

test.after(() => service.stop());

const PATHS = [
  '/rest/map_data_points/',
  '/rest/notifications/',
  '/rest/map_data_points/7/',
  '/rest/',
];
const nextQuery = createHostileQueries(SEED);
const statuses = new Map<number, number>();
let sent = 0;
let held: HostileQuery | undefined;

interface Sent extends HostileQuery {
  readonly target: string;
}

/** Sends until `limit` queries have been sent, over all connections at once. */
async function sendUpTo(limit: number): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => work(limit)));
}

/** Up to {@link BATCH} queries, or one that ends its connection. */
function nextBatch(limit: number): Sent[] {
  const batch: Sent[] = [];
  while (batch.length < BATCH && sent < limit) {
    const path = sent % 10 === 0 ? PATHS[(sent / 10) % PATHS.length]! : PATHS[0]!;
    const { query, isTarget } = held ?? nextQuery();
    held = undefined;
    if (!isTarget && batch.length > 0) {
      held = { query, isTarget };
      break;
    }
    batch.push({ query, isTarget, target: `${path}?${query}` });
    sent++;
    if (!isTarget) break;
  }
  return batch;
}

async function work(limit: number): Promise<void> {
  let pipeline: Pipeline | undefined;
  try {
    for (let batch = nextBatch(limit); batch.length > 0; batch = nextBatch(limit)) {
      pipeline ??= await openPipeline(service.port);
      const requests = batch.map(({ target }) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const answers = await pipeline.exchange(
        Buffer.from(requests.join(''), 'latin1'),
        batch.length,
      );
      assert.is(answers.length, batch.length);
      answers.forEach((answer, i) => {
        check(batch[i]!, answer);
      });
      if (!batch[0]!.isTarget) {
        pipeline.close();
        pipeline = undefined;
      }
    }
  } finally {
    pipeline?.close();
  }
}

function check({ target, isTarget }: Sent, { status, head, body }: RawAnswer): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (isTarget) assert.ok([200, 400, 404].includes(status), `${status} ${target}`);
  else assert.is(status, 400, target);
  if (head.includes('text/html')) {
    assert.is(status, 200, target);
    return;
  }
  const json = JSON.parse(body.toString()) as Record<string, unknown>;
  if (status !== 200) {
    const texts = Object.values(json).flat();
    assert.ok(texts.length > 0 && texts.every((text) => typeof text === 'string'), target);
    return;
  }
  if (!('results' in json)) return;
  const { count, next, previous, results } = json as unknown as Envelope;
  assert.ok(Number.isSafeInteger(count) && count >= results.length, target);
  for (const link of [next, previous]) {
    if (link !== null) assert.match(link, /^http:\/\/x\/rest\/\w+\/(?:\?[\w.~%+&=-]+)?$/);
  }
}

async function residentBytes(): Promise<number> {
  const { text } = await service.get('/metrics');
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)![1]);
}

test('100,000 hostile queries: each is answered, none with 5xx, and memory does not grow', async () => {
  await sendUpTo(Math.floor(QUERIES / 3));
  const settled = await residentBytes();
  await sendUpTo(QUERIES);
  const growth = (await residentBytes()) - settled;
  assert.ok(growth < GROWTH, `grew by ${growth} bytes`);
  assert.is(
    [...statuses.values()].reduce((sum, one) => sum + one),
    QUERIES,
  );
  // the queries are neither all good nor all bad
  for (const status of [200, 400, 404])
    assert.ok(statuses.get(status)! > QUERIES / 100, `${status}`);
});

test.run();
