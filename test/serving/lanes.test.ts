import { pino } from 'pino';
import type { ServeSettings } from '../../src/cli/settings/values.js';
import type { LanePage, PageQuestion } from '../../src/http/answer/question.js';
import { isHttpError } from '../../src/http/request/http-error.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { disclose, sharedArray } from '../../src/model/memory.js';
import { packUnseen } from '../../src/model/notification.js';
import type { Query } from '../../src/model/query.js';
import { createGeneration, type Generation, identityOf } from '../../src/reload/current.js';
import { Lanes } from '../../src/serving/lanes.js';
import { readerOf } from '../support/engine.js';
import { closeLater } from '../support/folder.js';
import { scatterNotes } from '../support/notes.js';
import { assert, test } from '../support/uvu.js';

const settings = {
  timeZone: 'UTC',
  corsOrigin: ['*'],
  maxPageBytes: 2 ** 23,
  compress: false,
} as unknown as ServeSettings;
const notes = scatterNotes(7, 2_000);
const dataset = await buildDataset(readerOf(notes));

function generationOf(digest: string): Generation {
  return createGeneration({ dataset, unseen: packUnseen([]), digest, loadedAt: 1 });
}

const first = generationOf('0123456789abcdef');

function start(threads = 1): Lanes {
  const lanes = new Lanes({ settings, posts: false }, threads, pino({ level: 'silent' }));
  closeLater(() => lanes.close());
  return lanes;
}

/** A lane of one thread, which the tests share. */
const one = start();

/** A question for a page of the list; `format` 0 is JSON, 1 is HTML. */
function questionOf(generation: Generation, page: Partial<Query> = {}, format = 0): PageQuestion {
  const wanted = { filters: {}, ordering: 'id', page: 1, pageSize: 10, ...page };
  return {
    ...{ view: 'points', wanted, format, coding: undefined, name: 'name', client: 'somebody' },
    asked: { origin: 'http://a', pairs: [], path: {}, user: undefined },
    target: '/rest/map_data_points/',
    generation: identityOf(generation),
    state: generation.state(),
    ended: sharedArray(Int32Array, 1),
  };
}

/** The status of a question's error; undefined where it is answered. */
async function statusOf(answer: Promise<LanePage>): Promise<number | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    if (!isHttpError(error)) throw error;
    return error.status;
  }
}

test('a thread makes the answer, head and body, or its error', async () => {
  const lanes = start(2);
  await lanes.serve(first);
  const { heads, body, state } = await lanes.ask(questionOf(first));
  const bytes = Buffer.from(disclose(body));
  const { count, results } = JSON.parse(bytes.toString());
  assert.equal([count, results.length], [2_000, 10]);
  assert.equal(state, first.state());
  assert.match(heads[0]!.etag, /^"0123456789abcdef-json-name/);
  assert.match(heads[0]!.lines, 'Waypost-Snapshot: "0123456789abcdef"');
  assert.is(await statusOf(lanes.ask(questionOf(first, { page: 999 }))), 404);
  const all = await Promise.all(Array.from({ length: 20 }, () => lanes.ask(questionOf(first))));
  for (const answer of all) assert.equal(Buffer.from(disclose(answer.body)), bytes);
});

test('a thread with another generation answers all of the question from it', async () => {
  const second = generationOf('fedcba9876543210');
  const lanes = start();
  await lanes.serve(first);
  lanes.start();
  await lanes.serve(second);
  const { heads, state } = await lanes.ask(questionOf(first));
  assert.is(state.name, 'fedcba9876543210');
  assert.match(heads[0]!.etag, 'fedcba9876543210');
});

test('a question that nobody waits for is cancelled, whether it waits or runs', async () => {
  await one.serve(first);
  // an HTML page of 1,000 records takes several milliseconds
  const questions = Array.from({ length: 3 }, () => questionOf(first, { pageSize: 1000 }, 1));
  const asked = questions.map((question) => one.ask(question));
  for (const { ended } of questions.slice(0, 2)) Atomics.store(ended, 0, 1);
  assert.equal(await Promise.all(asked.map(statusOf)), [503, 503, undefined]);
});

test("beyond the bound a client's question gets 503, and other clients' questions have their turn", async () => {
  await one.serve(first);
  const asked = Array.from({ length: 300 }, () => one.ask(questionOf(first)));
  const other = one.ask({ ...questionOf(first), client: 'another' });
  const order: string[] = [];
  void other.then(() => order.push('other'));
  const statuses = asked.map(async (each) => {
    const status = await statusOf(each);
    order.push(String(status));
    return status;
  });
  assert.is((await Promise.all(statuses)).filter((status) => status === 503).length, 44);
  await other;
  const answered = order.filter((name) => name !== '503');
  assert.ok(answered.indexOf('other') <= 2, answered.join());
});

test('a thread that dies fails its question and is replaced', async () => {
  await one.serve({ ...first, parts: {} as Generation['parts'] });
  assert.is(await statusOf(one.ask(questionOf(first))), 503);
  await one.serve(first);
  await one.ask(questionOf(first));
});

test.run();
