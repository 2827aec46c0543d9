import { LIST } from '../support/client.js';
import { POSTGRES, startDatabase } from '../support/database.js';
import { keysIn, snapshot, startProxy } from '../support/fleet.js';
import { sufferAccidents } from '../support/fleet-accidents.js';
import { startOwnService } from '../support/own-service.js';
import { post, postKeyed } from '../support/posted.js';
import { assert, test, testUnless, until } from '../support/uvu.js';

const ROUNDS = Number(process.env['FLEET_ROUNDS'] ?? 100);
const CLIENTS = Number(process.env['FLEET_CLIENTS'] ?? 60);
const SEED = Number(process.env['FLEET_SEED'] ?? 1);
const MISSING = POSTGRES === undefined ? 'there is no PostgreSQL here' : undefined;

testUnless(MISSING, `seed ${SEED}: ${ROUNDS} accidents lose and double nothing`, async () => {
  const done = await sufferAccidents(SEED, ROUNDS, CLIENTS);
  console.log(`seed ${SEED}: ${JSON.stringify(done)}`);
  assert.ok(done['posts']! > ROUNDS * CLIENTS);
});

testUnless(
  MISSING,
  'of two primaries the newer one is followed, and the older one never again',
  async () => {
    const older = await startDatabase();
    const newer = await older.standby();
    await newer.start();
    const proxies = await Promise.all([older, newer].map(({ port }) => startProxy(() => port)));
    const { username, password } = new URL(older.address());
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join();
    const address = `postgres://${username}:${password}@${hosts}/postgres`;
    const flags = ['--snapshot', snapshot(), '--journal', address];
    const service = await startOwnService(flags);
    assert.is(await post(service, 'both'), 1);
    await until('the standby has it', async () => {
      const [row] = await newer.ask((sql) => sql`SELECT count(*) AS n FROM waypost.posts`);
      return row!['n'] === '1';
    });
    await newer.promote();
    assert.is(await post(service, 'older'), 2);
    for (const one of proxies) one.cut();
    await until('the newer one is followed', async () => {
      const { status, text } = await service.get(LIST);
      assert.is(status, 200);
      return !text.includes('older');
    });
    await until('points are accepted', async () => {
      return (await postKeyed(service, 'newer')).status === 201;
    });
    await newer.stop('SIGKILL');
    await until('it says why', async () => {
      return /an old primary is not followed/.test((await service.get('/health/ready')).text);
    });
    assert.is((await postKeyed(service, 'no')).status, 503);
    assert.equal(await keysIn(service, 2), ['both', 'newer']);
    assert.match((await service.get('/metrics')).text, /^waypost_journal_losses_total 1$/m);
  },
);

test.run();
