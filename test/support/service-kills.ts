import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { Random } from '../../src/generate/random.js';
import type { Reply } from './client.js';
import { type Aim, compactedIsWhole, untilBegun } from './kill-moments.js';
import { withFolder } from './native.js';
import { listAll, postKeyed } from './posted.js';
import { type Service, startService } from './service.js';
import { until } from './wait.js';

const CLIENTS = 6;
const LIMITS = ['--posts-per-address', '0', '--max-shrink', '100', '--settle', '0'];
const FIRST = '{"id":1,"lat":1,"lon":2,"created_at":"2023-05-01T12:00:00+00:00"}\n';
/** Acknowledged posts that are sent once more after each start. */
const MOST_REPEATED = 20;

interface Told {
  /** The record that a key was answered with. */
  readonly acknowledged: Map<string, string>;
  /** Keys whose post was cut off. */
  readonly open: Set<string>;
}

/** How services are killed. */
export interface Kills {
  readonly seed: number;
  readonly times: number;
  readonly workers: number;
  /** Milliseconds that a service lives at most after it began to serve. */
  readonly mostMs: number;
  /** What it is killed at the beginning of; at a random moment without. */
  readonly aim?: Aim | undefined;
}

/**
 * Has clients post as fast as they can, kills the service with all its processes at a random
 * moment, or where it is aimed at something at the beginning of that, and looks after the next
 * start whether it keeps its promises; snapshots with some of the points come meanwhile. Returns
 * how many kills met what they were aimed at.
 */
export async function killServices({ seed, times, workers, mostMs, aim }: Kills): Promise<number> {
  let met = 0;
  const random = new Random(seed, 'point');
  await withFolder(async (folder) => {
    const snapshot = join(folder, 'notes.ndjson');
    writeFileSync(snapshot, FIRST);
    const flags = ['--snapshot', snapshot, '--workers', String(workers), ...LIMITS];
    if (aim === 'fold') flags.push('--log-level', 'debug');
    const environment = { WAYPOST_JOURNAL: '' };
    const told: Told = { acknowledged: new Map(), open: new Set() };
    for (let kill = 0; kill <= times; kill++) {
      const service = await startService(flags, environment);
      const about = `seed ${seed}, kill ${kill}`;
      try {
        await keepsPromises(service, told, random, about);
        if (kill === times) continue;
        const life =
          aim === undefined
            ? delay(random.int(mostMs), false)
            : untilBegun(aim, service, snapshot, mostMs, random);
        const clients = Array.from({ length: CLIENTS }, (_, i) =>
          postOn(service, `${kill}-${i}`, told),
        );
        if (aim === 'rewrite') {
          // there must be something that the snapshot can retire
          const { size } = told.acknowledged;
          await until('posts', () => told.acknowledged.size >= size + CLIENTS);
        }
        if (aim === 'rewrite' || random.int(2) === 0) replaceSnapshot(snapshot, told, random);
        if (await life) met++;
        killAll(service.pid);
        await Promise.all([service.ended, ...clients]);
        if (aim === 'compact') await compactedIsWhole(snapshot, about);
      } finally {
        killAll(service.pid);
        await service.ended;
      }
    }
    assert.ok(told.acknowledged.size > times, `${told.acknowledged.size} acknowledged`);
  });
  return met;
}

/** Posts one point after the other until the service is gone. */
async function postOn(service: Service, name: string, told: Told): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (let count = 0; ; count++) {
    const key = `${name}-${count}`;
    told.open.add(key);
    let reply: Reply;
    try {
      reply = await postKeyed(service, key, agent);
    } catch {
      agent.destroy();
      return;
    }
    assert.is(reply.status, 201, reply.text);
    told.open.delete(key);
    told.acknowledged.set(key, reply.text);
  }
}

/** A snapshot as the upstream makes it: the old one and some of the accepted points. */
function replaceSnapshot(path: string, { acknowledged }: Told, random: Random): void {
  const lines = new Set(readFileSync(path, 'utf8').trim().split('\n'));
  const records = [...acknowledged.values()];
  for (const [index, record] of records.entries()) {
    // a snapshot without any that is new retires nothing
    if (random.int(3) === 0 || index === records.length - 1) lines.add(record);
  }
  writeFileSync(`${path}.new.tmp`, `${[...lines].join('\n')}\n`);
  renameSync(`${path}.new.tmp`, path);
}

async function keepsPromises(
  service: Service,
  { acknowledged, open }: Told,
  random: Random,
  about: string,
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const records = await listAll(service, agent);
  const ids = new Set(records.map(({ id }) => id));
  assert.is(ids.size, records.length, `${about}: an id twice`);
  const byKey = new Map(records.map((record) => [record['comment'] as string, record]));
  // the first point of the snapshot has no comment
  assert.is(byKey.size, records.length, `${about}: a post twice`);
  for (const [key, record] of acknowledged) {
    assert.equal(byKey.get(key), JSON.parse(record), `${about}: ${key}`);
  }
  const known = [...acknowledged];
  for (let i = 0; i < Math.min(known.length, MOST_REPEATED); i++) {
    const [key, record] = known[random.int(known.length)]!;
    const reply = await postKeyed(service, key, agent);
    assert.equal([reply.status, reply.text], [201, record], `${about}: ${key} again`);
    assert.is(reply.headers['idempotency-replayed'], 'true', `${about}: ${key} spent twice`);
  }
  // whoever had no answer asks again
  for (const key of open) {
    const reply = await postKeyed(service, key, agent);
    assert.is(reply.status, 201, reply.text);
    const isThere = byKey.has(key);
    assert.is(
      reply.headers['idempotency-replayed'],
      isThere ? 'true' : undefined,
      `${about}: ${key}`,
    );
    acknowledged.set(key, reply.text);
  }
  open.clear();
  agent.destroy();
}

/** Kills a process and the one that it started, which would end by itself and in good order. */
function killAll(pid: number): void {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // gone, or a system without this folder: its children notice
  }
  for (const one of [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // gone
    }
  }
}
