import { questionsOf } from '../../src/serving/web.js';
import { startNotes } from '../support/app.js';
import { LIST } from '../support/client.js';
import { engineOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';
import { metricsOf } from '../support/operating.js';
import { startOwnService } from '../support/own-service.js';
import { startService } from '../support/service.js';
import { assert, makeFile, pluck, test } from '../support/uvu.js';

const WARM = ['--warm-up', '200ms', '--access-log', '1'];

for (const [name, start] of [
  ['any host', () => startService([...WARM, '--workers', '2'])],
  ['hosts by name', () => startOwnService([...WARM, '--allowed-hosts', '.example.org,127.0.0.1'])],
] as const) {
  test(`a thread that has warmed up for ${name} has counted and logged nothing`, async () => {
    const service = await start();
    // only a service in its own process logs this
    const lines = pluck(service.logs, 'msg').filter((line) => line !== 'serving');
    assert.equal(lines, []);
    const before = await metricsOf(service);
    assert.is(before.samples.filter(({ name }) => name.endsWith('requests_total')).length, 0);
    assert.is(before.value('waypost_answer_cache_misses_total'), 0);
    assert.is((await service.get(LIST)).status, 200);
    assert.is((await metricsOf(service)).value('waypost_answer_cache_misses_total'), 1);
  });
}

test("the warm-up's requests succeed, except those that are wrong on purpose", async () => {
  const notes = scatterNotes(1, 500);
  const { dataset } = await engineOf(notes);
  const app = await startNotes(notes);
  let found = 0;
  for (let turn = 0; turn < 15; turn++) {
    for (const path of questionsOf(dataset, turn)) {
      const { status } = await app.get(path);
      if (/bbox=\d+$/.test(path)) assert.is(status, 400, path);
      else assert.ok(status === 200 || status === 204, `${status} ${path}`);
      if (status === 200) found++;
    }
  }
  assert.ok(found > 150, String(found));
});

test('a service without points warms up, too', async () => {
  const path = makeFile('[]', 'none.json');
  const flags = ['--snapshot', path, '--allow-empty', '--warm-up', '100ms'];
  assert.equal((await startOwnService(flags)).logs, []);
});

test.run();
