import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildDataset } from '../../src/dataset/build.js';
import { createGeneration } from '../../src/live/generation.js';
import { createEngine } from '../../src/query/engine.js';
import { type OwnApp, startApp } from '../support/app.js';
import { ask, type Envelope, type Reply } from '../support/client.js';
import { readerOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';

const PATH = '/rest/map_data_points/';
const SPAN = 'after=1980-01-01T00:00:00Z';
const LONG = `${PATH}?created_at_${SPAN}&modified_at_${SPAN}&page_size=7`;
// a slice of an order, which needs no work
const QUICK = `${PATH}?page_size=3&ordering=created_at`;

const parts = await buildDataset(readerOf(scatterNotes(17, 3_000)));
const whole = createGeneration({ dataset: parts, extra: [], digest: 'long', loadedAt: 0 });

/** What the service has been doing, in order. */
let events: string[] = [];
const watch = new EventEmitter();

function happened(event: 'paused' | 'piece' | 'dropped' | 'quick' | 'long'): void {
  events.push(event);
  watch.emit(event);
}

function pieces(): number {
  return events.filter((event) => event === 'piece').length;
}

/** A service whose pieces of work are so small that {@link LONG} needs thousands of them. */
function start(): Promise<OwnApp> {
  const engine = createEngine(whole.engine.dataset, 10);
  const watched = {
    ...engine,
    begin: ((query) => {
      const begun = engine.begin(query);
      if (begun === undefined || !('resume' in begun)) return begun;
      happened('paused');
      const { resume, drop } = begun;
      begun.resume = () => {
        happened('piece');
        return resume.call(begun);
      };
      begun.drop = () => {
        happened('dropped');
        drop.call(begun);
      };
      return begun;
    }) as typeof engine.begin,
  };
  const generation = { ...whole, engine: watched };
  return startApp({ generation });
}

const app = await start();
const { port } = app;
test.before.each(() => {
  events = [];
});
test.after(() => app.close());

/** Asks and notes when the answer is there. */
async function note(name: 'quick' | 'long', path: string): Promise<Reply> {
  const reply = await ask(port, path);
  happened(name);
  return reply;
}

test('others are answered while a long query is under way', async () => {
  const long = note('long', LONG);
  await once(watch, 'piece');
  const quick = await Promise.all(Array.from({ length: 20 }, () => note('quick', QUICK)));
  for (const { status } of quick) assert.is(status, 200);
  const { status, json } = await long;
  assert.is(status, 200);
  const { count, results } = json<Envelope>();
  assert.is(count, results.length === 7 ? count : 0);
  assert.ok(count > 1_000, `${count} matches`);
  assert.ok(events.indexOf('quick') < events.indexOf('long'), 'the quick ones came first');
  assert.ok(pieces() > 500, `${pieces()} pieces`);
});

test('the answer is that of a query that does not pause, and so is a page past the end', async () => {
  const query = {
    filters: {
      createdAt: { after: Date.UTC(1980, 0) * 1000, before: Infinity },
      modifiedAt: { after: Date.UTC(1980, 0) * 1000, before: Infinity },
    },
    ordering: 'id' as const,
    page: 1,
    pageSize: 7,
  };
  const page = whole.engine.run(query)!;
  const { byId } = whole.engine.dataset;
  const ids = [...page.rows.subarray(0, page.length)].map((row) => byId.keys[byId.ranks[row]!]);
  const { count, results } = (await ask(port, LONG)).json<Envelope>();
  assert.is(count, page.count);
  assert.equal(
    results.map(({ id }) => id),
    ids,
  );
  const past = await ask(port, `${LONG}&page=100000`);
  assert.is(past.status, 404);
  assert.equal(past.json(), { detail: 'Invalid page.' });
});

test('a query whose client has gone is dropped, and the next one is answered', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${LONG} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(watch, 'piece');
  socket.destroy();
  await once(watch, 'dropped');
  const forNobody = pieces();
  assert.is((await ask(port, LONG)).status, 200);
  const forNext = pieces() - forNobody;
  assert.ok(forNobody < forNext, `${forNobody} pieces for nobody, ${forNext} for the next`);
});

test('when too many long queries wait, a further one gets 503 and the time to try again', async () => {
  const replies = await Promise.all(Array.from({ length: 90 }, () => ask(port, LONG)));
  const refused = replies.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0, 'none was refused');
  assert.ok(replies.filter(({ status }) => status === 200).length >= 65);
  for (const { headers, json } of refused) {
    assert.is(headers['retry-after'], '1');
    assert.type(json<{ detail: string }>().detail, 'string');
  }
});

test.run();
