import * as assert from 'uvu/assert';
import { staysSmall } from './growth.js';
import { createHostileTiles } from './hostile-tiles.js';
import { openPipeline, type RawAnswer } from './pipeline.js';
import { SNAPSHOT, startService } from './service.js';
import { decodeTile } from './tiles.js';

const CONNECTIONS = 4;
const BATCH = 25;
const SEED = 20_260_415;
/** What garbage collection and caches may add after the first third. */
const GROWTH = 60e6;

/**
 * Asserts that a service answers `count` hostile addresses of tiles, each with a tile or an error
 * of the client, and that its memory does not grow.
 */
export async function fuzzTiles(count: number): Promise<void> {
  const flags = ['--answer-cache', '4MiB', '--max-loop-delay', '0'];
  const service = await startService(['--snapshot', SNAPSHOT, ...flags]);
  const nextTarget = createHostileTiles(SEED);
  const statuses = new Map<number, number>();
  let sent = 0;

  async function sendUpTo(limit: number): Promise<void> {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => sendOver(limit)));
  }

  async function sendOver(limit: number): Promise<void> {
    const pipeline = await openPipeline(service.port);
    try {
      while (sent < limit) {
        const targets = Array.from({ length: Math.min(BATCH, limit - sent) }, nextTarget);
        sent += targets.length;
        const requests = targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const bytes = Buffer.from(requests.join(''));
        const answers = await pipeline.exchange(bytes, targets.length);
        for (const [i, answer] of answers.entries()) {
          check(targets[i]!, answer);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        }
      }
    } finally {
      pipeline.close();
    }
  }

  try {
    await staysSmall(service, count, GROWTH, sendUpTo);
    // the addresses are neither all good nor all bad
    for (const status of [200, 204, 400, 404]) {
      assert.ok((statuses.get(status) ?? 0) > count / 50, `${status}: ${statuses.get(status)}`);
    }
  } finally {
    await service.stop();
  }
}

function check(target: string, { status, body }: RawAnswer): void {
  assert.ok([200, 204, 400, 404].includes(status), `${status} ${target.slice(0, 200)}`);
  if (status === 204) assert.is(body.length, 0);
  else if (status === 200) assert.ok(Object.keys(decodeTile(body)).length > 0, target);
  else {
    const texts = Object.values(JSON.parse(body.toString()) as object).flat();
    assert.ok(texts.length > 0 && texts.every((text) => typeof text === 'string'), target);
  }
}
