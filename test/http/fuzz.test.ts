import type { Envelope } from '../support/client.js';
import { createHostileQueries, type HostileQuery } from '../support/hostile-queries.js';
import { staysSmall } from '../support/operating.js';
import { openPipeline, type Pipeline, type RawAnswer } from '../support/pipeline.js';
import { SNAPSHOT, startService } from '../support/service.js';
import { IS_SOAK } from '../support/soak.js';
import { assert, test } from '../support/uvu.js';

const CONNECTIONS = 8;
const BATCH = 50;
const SEED = 20_240_229;
/** What garbage collection and caches may add after the first third. */
const GROWTH = 60e6;
const PATHS = [
  '/rest/map_data_points/',
  '/rest/notifications/',
  '/rest/map_data_points/7/',
  '/rest/',
];

interface Sent extends HostileQuery {
  readonly target: string;
}

/**
 * Asserts that a service answers `queries` hostile queries, none with 5xx, and that its memory does
 * not grow.
 */
async function fuzzQueries(queries: number): Promise<void> {
  const service = await startService([
    ...['--snapshot', SNAPSHOT],
    ...['--time-zone', 'Europe/Helsinki'],
    // full early on, so that it does not look like a leak
    ...['--answer-cache', '4MiB'],
    // a busy machine is no fault of the queries
    ...['--max-loop-delay', '0'],
  ]);
  const nextBatch = createBatches();
  const statuses = new Map<number, number>();
  const sendUpTo = async (limit: number): Promise<void> => {
    const work = (): Promise<void> => sendBatches(service.port, () => nextBatch(limit), statuses);
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  };
  await staysSmall(service, queries, GROWTH, sendUpTo);
  assert.is(
    [...statuses.values()].reduce((sum, one) => sum + one),
    queries,
  );
  // the queries are neither all good nor all bad
  for (const status of [200, 400, 404])
    assert.ok(statuses.get(status)! > queries / 100, `${status}`);
}

/** Makes batches until `limit` queries have been made in all. */
function createBatches(): (limit: number) => Sent[] {
  const nextQuery = createHostileQueries(SEED);
  let sent = 0;
  let held: HostileQuery | undefined;
  // up to BATCH queries, or one that ends its connection
  return (limit) => {
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
  };
}

/** Sends batches over a connection, a new one where a query ended it, until there are no more. */
async function sendBatches(
  port: number,
  nextBatch: () => Sent[],
  statuses: Map<number, number>,
): Promise<void> {
  let pipeline: Pipeline | undefined;
  try {
    for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
      pipeline ??= await openPipeline(port);
      const requests = batch.map(({ target }) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const answers = await pipeline.exchange(
        Buffer.from(requests.join(''), 'latin1'),
        batch.length,
      );
      assert.is(answers.length, batch.length);
      for (const [i, answer] of answers.entries()) {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        check(batch[i]!, answer);
      }
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
  if (isTarget) assert.ok([200, 400, 404].includes(status), `${status} ${target}`);
  else assert.is(status, 400, target);
  if (head.includes('text/html')) {
    assert.match(body.toString(), /^<!doctype html>.*<\/html>\n$/s);
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

const QUERIES = IS_SOAK ? 100_000 : 1_000;

test(`${QUERIES} hostile queries: each is answered, none with 5xx, and memory does not grow`, () =>
  fuzzQueries(QUERIES));

test.run();
