import { Agent } from 'node:http';
import type { Envelope, Reply } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { post } from '../support/posted.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const LIST = '/rest/map_data_points/?page_size=1&ordering=-created_at';
const MOST_WAITING = 256;
const service = await startOwnService();

function ask(sequence: string, path = LIST): Promise<Reply> {
  return service.get(path, { headers: { 'Waypost-At-Least': sequence } });
}

function newestOf(reply: Reply): unknown {
  return reply.json<Envelope>().results[0]!['comment'];
}

test('what is served already is answered at once, and what is not yet is waited for', async () => {
  const first = await post(service, 'first');
  assert.is(newestOf(await ask(`${first}`)), 'first');
  assert.is((await ask('0')).status, 200);
  const waiting = ask(`${first + 1}`);
  const tile = ask(`${first + 1}`, '/tiles/points/0/0/0.mvt');
  assert.is(await post(service, 'second'), first + 1);
  assert.is(newestOf(await waiting), 'second');
  assert.is((await tile).status, (await service.get('/tiles/points/0/0/0.mvt')).status);
});

test('what does not come in a second is 503, and no sequence is 400', async () => {
  const reply = await ask('999999999999999');
  assert.equal([reply.status, reply.headers['retry-after']], [503, '1']);
  assert.match(reply.text, /not there yet: the last post served is \d+, and 999999999999999 was/);
  for (const text of ['', '-1', '1.0', 'x', '1, 2', '1'.repeat(16)]) {
    const { status, text: said } = await ask(text);
    assert.is(status, 400, text);
    assert.match(said, /Got Waypost-At-Least .*such as 17/);
  }
});

test('of many that wait 256 do, the others are refused at once, and all who wait are answered', async () => {
  const next = (await post(service, 'third')) + 1;
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const answers: Reply[] = [];
  const all = Array.from({ length: MOST_WAITING + 44 }, async () => {
    const headers = { 'Waypost-At-Least': `${next}` };
    answers.push(await service.get(LIST, { headers, agent }));
  });
  const refused = (): Reply[] => answers.filter(({ text }) => /256 requests wait/.test(text));
  await until('some are refused', () => refused().length > 0);
  assert.ok(refused().every(({ status }) => status === 503));
  assert.is(await post(service, 'fourth'), next);
  await Promise.all(all);
  agent.destroy();
  const others = answers.filter((one) => !refused().includes(one));
  assert.ok(others.length >= MOST_WAITING, `${others.length}`);
  // on a machine that is slow, a second passes first
  for (const one of others) {
    if (one.status === 200) assert.is(newestOf(one), 'fourth');
    else assert.match(one.text, /the last post served is/);
  }
  assert.is(newestOf(await ask(`${next}`)), 'fourth');
});

test.run();
