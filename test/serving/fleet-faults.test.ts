import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { openConfiguredJournal } from '../../src/serving/journals.js';
import { type Asking, jsonPost, LIST, post, postKeyed } from '../support/client.js';
import { CERTIFICATE, PASSWORD } from '../support/database.js';
import {
  assertSame,
  keysIn,
  snapshot,
  startInstance,
  startProxy,
  write,
} from '../support/fleet.js';
import { FIRST_NOTE } from '../support/kept-posts.js';
import { metricsOf } from '../support/operating.js';
import { runInThread, startService } from '../support/service.js';
import { listen } from '../support/sockets.js';
import { assert, pluck, refusal, test, until } from '../support/uvu.js';
// importing these tests shares their cluster: a new one takes two seconds of CPU
import { fleet, noteOf, reload } from './fleet.js';

function accepts(service: Asking, key: string): Promise<void> {
  return until('posts are accepted', async () => (await postKeyed(service, key)).status === 201);
}

fleet.check('a killed instance loses nothing, and has all when it comes back', async (address) => {
  const path = snapshot();
  const flags = ['--snapshot', path, '--workers', '2'];
  const killed = await startService(flags, { WAYPOST_JOURNAL: address });
  const other = await fleet.start(path, address);
  const acknowledged = new Map<string, number>();
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let count = 0; ; count++) {
      const key = `${client}-${count}`;
      const reply = await postKeyed(killed, key).catch(() => undefined);
      if (reply?.status !== 201) return key;
      acknowledged.set(key, Number(reply.headers['waypost-sequence']));
    }
  });
  await until('some points', () => acknowledged.size > 50);
  process.kill(killed.pid, 'SIGKILL');
  const open = await Promise.all(clients);
  // posting unanswered keys again makes no second point
  for (const key of open) acknowledged.set(key, await post(other, key));
  const last = Math.max(...acknowledged.values());
  const back = await fleet.start(path, address);
  const expected = [...acknowledged.keys()].sort();
  for (const one of [other, back]) assert.equal(await keysIn(one, last), expected);
  await assertSame([other, back], 3, 20, last);
});

fleet.check(
  'an instance that cannot build anew what it serves says so, and stores nothing',
  async (address) => {
    const paths = [snapshot(), snapshot()] as const;
    const flags = ['--watch', 'off', '--admin-token', 'secret', '--journal-timeout', '1s'];
    const moving = await fleet.start(paths[0], address, ...flags);
    const stuck = await fleet.start(paths[1], address, ...flags);
    const { id } = (await postKeyed(moving, 'moved')).json<{ id: number }>();
    writeFileSync(paths[1], '{"broken');
    const next = FIRST_NOTE + noteOf(id, 'upstream');
    write(paths[0], next);
    await reload(moving);
    await until('it says so', async () => {
      const { text } = await stuck.get('/health/ready');
      return text.includes('"accepted":false,"reason":"the journal fails: points got other ids');
    });
    assert.is((await postKeyed(stuck, 'refused')).status, 503);
    assert.equal(await keysIn(moving, 2), ['moved', 'upstream']);
    write(paths[1], next);
    await reload(stuck);
    await accepts(stuck, 'later');
    await assertSame([moving, stuck], 3, 10, 3);
  },
);

fleet.check('without the database reads go on; posts do when it is back', async (address) => {
  const service = await fleet.start(snapshot(), address, '--journal-timeout', '1s');
  assert.is(await post(service, 'before'), 1);
  await fleet.database.stop('SIGKILL');
  await until('posts are refused', async () => {
    const { status, headers } = await postKeyed(service, 'during');
    if (status === 503) assert.ok(Number(headers['retry-after']) > 0);
    return status === 503;
  });
  assert.equal(await keysIn(service, 1), ['before']);
  await until('it says so', async () => {
    const { status, text } = await service.get('/health/ready');
    assert.is(status, 200);
    return /"accepted":false,"reason":"the journal fails:/.test(text);
  });
  const value = async (name: string) => (await metricsOf(service)).value(`waypost_journal_${name}`);
  assert.is(await value('failing'), 1);
  await fleet.database.start();
  await accepts(service, 'during');
  assert.equal(await keysIn(service, 2), ['before', 'during']);
  await until('nothing is behind', async () => (await value('lag_posts')) === 0);
});

fleet.check('a connection that is cut in the middle of a commit makes no point twice', async () => {
  const proxy = await startProxy(() => fleet.database.port);
  const service = await fleet.start(snapshot(), fleet.database.address('postgres', proxy.port));
  for (let round = 0; round < 3; round++) {
    proxy.cutInCommit();
    // without a key, only the name of the batch prevents a second point
    const fields = { lat: '1', lon: '2', comment: `cut-${round}` };
    const { status } = await service.get(LIST, jsonPost(fields));
    assert.is(status, 201);
  }
  proxy.cut();
  assert.is(await post(service, 'after'), 4);
  assert.equal(await keysIn(service, 4), ['after', 'cut-0', 'cut-1', 'cut-2']);
});

fleet.check('a cancelled wait for a standby does not confirm a post', async (address) => {
  const service = await fleet.start(snapshot(), address, '--journal-timeout', '30s');
  const set = (value: string): Promise<unknown> =>
    fleet.database.ask(async (sql) => {
      await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${value}'`);
      await sql`SELECT pg_reload_conf()`;
    });
  await set('nobody');
  const keys: string[] = [];
  let last: { status: number } | undefined = { status: 0 };
  let posting = Promise.resolve();
  await until('a wait is cancelled', async () => {
    if (last !== undefined) {
      // posts again, because the server may not have applied the setting yet
      const key = `uncertain-${keys.length}`;
      keys.push(key);
      last = undefined;
      posting = postKeyed(service, key).then((reply) => {
        last = reply;
      });
    }
    const [row] = await fleet.database.ask(
      (sql) => sql`SELECT count(pg_cancel_backend(pid)) AS n FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND query LIKE '%append%'`,
    );
    return Number(row!['n']) > 0;
  });
  assert.is(last, undefined, 'it is on no standby');
  await set('');
  await posting;
  assert.is(last!.status, 201);
  assert.equal(await keysIn(service, keys.length), keys.sort());
});

fleet.check('a batch that waits for a lock in vain leaves the database', async (address) => {
  const service = await fleet.start(snapshot(), address, '--journal-timeout', '1s');
  await fleet.database.ask(async (sql) => {
    const waiting = async (): Promise<number[]> => {
      const rows = await sql`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
      return pluck(rows, 'pid') as number[];
    };
    // holds the lock, like a batch whose standbys are gone
    await sql`BEGIN`;
    await sql`UPDATE waypost.state SET one = true`;
    assert.is((await postKeyed(service, 'key')).status, 503);
    const [pid] = await waiting();
    assert.ok(pid);
    await until('it ends', async () => !(await waiting()).includes(pid));
    await sql`ROLLBACK`;
  });
  await accepts(service, 'key');
  assert.equal(await keysIn(service, 1), ['key']);
});

fleet.check('tables edited by hand stop posts, and reads go on', async (address) => {
  const service = await fleet.start(snapshot(), address);
  for (const key of ['a', 'b', 'c']) await post(service, key);
  const before = await service.get(LIST);
  const edit = async (statement: string, reason: RegExp): Promise<void> => {
    await fleet.database.run(statement);
    await until(`${reason}`, async () => {
      assert.is((await service.get(LIST)).text, before.text);
      return reason.test((await service.get('/health/ready')).text);
    });
    assert.is((await postKeyed(service, 'no')).status, 503);
  };
  const add = (sequence: number, record: string): string =>
    `INSERT INTO waypost.posts VALUES (${sequence}, ${sequence + 900}, 1, '${record}', NULL, NULL, 'x');
      UPDATE waypost.state SET last_sequence = ${sequence}, last_batch = 'x'`;
  const undo = `DELETE FROM waypost.posts WHERE batch = 'x'; UPDATE waypost.state SET
    last_sequence = 3, last_batch = (SELECT batch FROM waypost.posts WHERE sequence = 3)`;
  await edit(add(4, '{"id":'), /post 4 has a record that is no JSON/);
  await edit(`${undo}; ${add(5, '{}')}`, /post 4 is missing in its table/);
  await edit(`${undo}; ${add(4, '{"id":904}')}`, /post 4 has a record whose lat/);
  await edit(`${undo}; UPDATE waypost.state SET version = 2`, /tables have version 2/);
  await edit('ALTER TABLE waypost.state RENAME TO gone', /the database refuses \(42P01\)/);
  await fleet.database.run(
    'ALTER TABLE waypost.gone RENAME TO state; UPDATE waypost.state SET version = 1',
  );
  await accepts(service, 'again');
  assert.equal(await keysIn(service, 4), ['a', 'again', 'b', 'c']);
});

fleet.check('posts that a failover lost are gone, the state has a new name', async (address) => {
  const [first, second] = [snapshot(), snapshot()];
  const instances = [await fleet.start(first, address), await fleet.start(second, address)];
  for (const key of ['kept', 'lost']) await post(instances[0]!, key);
  const nameOf = async ({ get }: Asking): Promise<unknown> =>
    (await get(LIST, { headers: { 'Waypost-At-Least': '2' } })).headers['waypost-snapshot'];
  const before = await nameOf(instances[1]!);
  await fleet.database.run(`DELETE FROM waypost.posts WHERE sequence = 2; UPDATE waypost.state SET
    last_sequence = 1, last_batch = (SELECT batch FROM waypost.posts WHERE sequence = 1)`);
  for (const one of instances) {
    await until('the lost one is gone', async () => {
      const { status, text } = await one.get(LIST);
      assert.is(status, 200);
      return !text.includes('lost');
    });
  }
  await accepts(instances[0]!, 'another');
  for (const one of instances) assert.equal(await keysIn(one, 2), ['another', 'kept']);
  assert.is.not(await nameOf(instances[0]!), before);
  await assertSame(instances, 4, 20, 2);
  assert.match((await instances[0]!.get('/metrics')).text, /^waypost_journal_losses_total 1$/m);
});

fleet.check("a failed start names the database's fault, but not its password", async (good) => {
  const path = snapshot();
  const port = await listen(createServer((socket) => void socket.resume()));
  const cases: [address: string, reason: RegExp][] = [
    [good.replace(/:[^:@/]+@/, ':hunter2@'), /password authentication failed/],
    [`${good}?sslmode=require`, /ECONNRESET: does the server speak TLS\? .* sslmode=disable/],
    [fleet.database.address('postgres', port), /does not answer|CONNECT_TIMEOUT/],
  ];
  const secrets = [PASSWORD, encodeURIComponent(PASSWORD), 'hunter2'];
  await Promise.all(
    cases.map(async ([address, reason], i) => {
      const fail = i === 0 ? failedStart : failedOpening;
      const [said, logged] = await fail(path, address);
      assert.match(said, reason);
      for (const secret of secrets) assert.not.ok((said + logged).includes(secret), said);
    }),
  );
  const unread = await refusal(startInstance(path, `${good}?keepalive=1`));
  assert.match(unread, /keepalive is unknown: expected an address/);
  const service = await fleet.start(path, good);
  await post(service, 'one');
  const told = unread + JSON.stringify(service.logs) + (await service.get('/metrics')).text;
  assert.match(told, /journal opened/);
  for (const secret of secrets) assert.not.ok(told.includes(secret));
});

/** The error and the log of a service that cannot start with this journal. */
async function failedStart(path: string, journal: string): Promise<[said: string, logged: string]> {
  const flags = ['serve', '--snapshot', path, '--port', '0', '--journal-wait', '0'];
  const given = { WAYPOST_JOURNAL: journal, WAYPOST_LOG_LEVEL: 'debug' };
  const { code, stdout, stderr } = await runInThread(flags, given);
  assert.is(code, 1, stdout);
  return [stderr, stdout];
}

/** As {@link failedStart}, but only opens the journal, in this process. */
async function failedOpening(
  snapshot: string,
  journal: string,
): Promise<[said: string, logged: string]> {
  let logged = '';
  const logger = pino({ level: 'debug' }, { write: (line: string) => (logged += line) });
  const waits = { journalWait: 0, journalTimeout: 10_000, listenTimeout: 0 };
  const opening = openConfiguredJournal({ snapshot, journal, ...waits }, { logger });
  return [await refusal(opening), logged];
}

fleet.check('a server that demands TLS gets it; its certificate can be verified', async () => {
  const { database } = fleet;
  await database.stop();
  await database.start(database.demandTls());
  const address = (mode: string): string => `${database.address()}?sslmode=${mode}`;
  const path = snapshot();
  const first = await fleet.start(path, database.address());
  assert.is(await post(first, 'prefer'), 1);
  const trusting = { WAYPOST_JOURNAL: address('verify-full'), NODE_EXTRA_CA_CERTS: CERTIFICATE };
  const verifying = await startService(['--snapshot', path], trusting);
  fleet.running.push(verifying);
  assert.equal(await keysIn(verifying, 1), ['prefer']);
  for (const [mode, reason] of [
    ['disable', /no pg_hba\.conf entry .* no encryption/],
    ['verify-full', /self-signed certificate.*; NODE_EXTRA_CA_CERTS names/],
  ] as const) {
    const [told] = await failedOpening(path, address(mode));
    assert.match(told, reason);
    assert.not.ok(told.includes(PASSWORD));
  }
  await fleet.stop();
});

test.run();
