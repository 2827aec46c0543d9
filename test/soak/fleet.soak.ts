import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/cli/generate/random.js';
import { LIST, listAll, post, postKeyed } from '../support/client.js';
import {
  canMount,
  type Database,
  makeDatabase,
  POSTGRES,
  startDatabase,
} from '../support/database.js';
import { assertSame, type CuttingProxy, keysIn, snapshot, startProxy } from '../support/fleet.js';
import { startOwnService } from '../support/own-service.js';
import { logged, type Service, startService } from '../support/service.js';
import { assert, test, testUnless, until } from '../support/uvu.js';

const ROUNDS = Number(process.env['FLEET_ROUNDS'] ?? 100);
const CLIENTS = Number(process.env['FLEET_CLIENTS'] ?? 60);
const SEED = Number(process.env['FLEET_SEED'] ?? 1);
const MISSING = POSTGRES === undefined ? 'there is no PostgreSQL here' : undefined;

testUnless(MISSING, `seed ${SEED}: ${ROUNDS} accidents lose and double nothing`, () =>
  sufferAccidents(SEED, ROUNDS, CLIENTS),
);

testUnless(MISSING, 'of two primaries the newer is followed, the older never again', async () => {
  const older = await startDatabase();
  const newer = await older.standby();
  await newer.start();
  const proxies = await Promise.all([older, newer].map(({ port }) => startProxy(() => port)));
  const flags = ['--snapshot', snapshot(), '--journal', addressBehind(older, proxies)];
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
});

const KINDS = [
  ...['primary', 'standby', 'instance', 'process', 'pause', 'cut', 'commit', 'everything', 'disk'],
] as const;
type Kind = (typeof KINDS)[number];

/** The processes that accidents happen to, and what clients found. */
interface World {
  /** The first is the primary, the others are standbys. */
  nodes: Database[];
  readonly proxies: readonly CuttingProxy[];
  readonly instances: Service[];
  readonly path: string;
  readonly random: Random;
  /** The sequence of each key whose post was answered with 201. */
  readonly acknowledged: Map<string, number>;
  readonly wrong: string[];
}

/**
 * Has clients post through three instances to three servers, with a random accident each round.
 * Asserts after each round that every instance has every acknowledged point once and gives the same
 * answers, and that no read failed.
 */
async function sufferAccidents(seed: number, rounds: number, clients: number): Promise<void> {
  const withDisks = canMount();
  const world = await begin(new Random(seed, 'point'), withDisks);
  let kinds: Kind[] = [];
  for (let round = 0; round < rounds; round++) {
    // every kind comes once before any is repeated
    if (kinds.length === 0) kinds = KINDS.filter((one) => one !== 'disk' || withDisks);
    const [kind] = kinds.splice(world.random.int(kinds.length), 1) as [Kind];
    const end = new AbortController();
    const names = Array.from({ length: clients }, (_, client) => `${round}-${client}`);
    const posting = names.map((name) => postOn(world, name, end.signal));
    const reading = readOn(world, end.signal);
    const before = world.acknowledged.size;
    await until('some posts', () => world.acknowledged.size > before + clients);
    await ACCIDENTS[kind](world);
    const after = world.acknowledged.size;
    await until('more posts', () => world.acknowledged.size > after + clients);
    end.abort();
    await Promise.all([...posting, reading]);
    await check(world, seed + round, `seed ${seed}, round ${round}: ${kind}`);
  }
}

const ACCIDENTS: Readonly<Record<Kind, (world: World) => Promise<void>>> = {
  async primary(world) {
    const [old, ...standbys] = world.nodes;
    await old!.stop('SIGKILL');
    const received = await Promise.all(standbys.map((one) => one.received()));
    if (received[1]! > received[0]!) standbys.reverse();
    const [next, other] = standbys;
    await next!.promote();
    await other!.stop();
    other!.follow(next!);
    await start(world, other!);
    world.nodes = [next!, other!, old!];
    await next!.copyTo(old!);
    await start(world, old!);
  },
  async standby(world) {
    const one = world.nodes[1 + world.random.int(2)]!;
    await one.stop('SIGKILL');
    await start(world, one);
  },
  async instance(world) {
    const at = world.random.int(world.instances.length);
    const killed = world.instances[at]!;
    // kills the supervisor and its child
    process.kill(killed.pid, 'SIGKILL');
    process.kill(servingOf(killed), 'SIGKILL');
    await killed.ended;
    world.instances[at] = await startInstance(world);
  },
  async process(world) {
    const one = world.random.pick(world.instances);
    const before = servingOf(one);
    process.kill(before, 'SIGKILL');
    await until('it serves again', () => servingOf(one) !== before);
  },
  async pause({ nodes, random }) {
    nodes[0]!.signal('SIGSTOP');
    await delay(2_000 + random.int(4_000));
    nodes[0]!.signal('SIGCONT');
  },
  async cut({ proxies }) {
    for (const one of proxies) one.cut();
  },
  async commit({ proxies, random }) {
    for (const one of proxies) one.cutInCommit(random.int(5));
  },
  async disk(world) {
    const [primary] = world.nodes;
    primary!.fillDisk(world.random.int(3_000_000));
    await until('posts are refused', async () => {
      return (await postKeyed(world.instances[0]!, 'full').catch(() => undefined))?.status === 503;
    });
    primary!.emptyDisk();
    // the server may have ended; one that begins anew after a crash may pass over a SIGINT for ever
    await primary!.stop('SIGKILL');
    await start(world, primary!);
  },
  async everything(world) {
    for (const one of world.instances) await one.stop();
    const { nodes } = world;
    for (const one of nodes.toReversed()) await one.stop(world.random.pick(['SIGKILL', 'SIGINT']));
    await Promise.all(nodes.map((one) => start(world, one)));
    for (const at of world.instances.keys()) world.instances[at] = await startInstance(world);
  },
};

/** The process that serves, below its supervisor. */
function servingOf(service: Service): number {
  return logged(service, 'serving').at(-1)!['pid'] as number;
}

async function begin(random: Random, withDisks: boolean): Promise<World> {
  const primary = await makeDatabase(withDisks);
  await primary.start();
  const nodes = [primary, await primary.standby(), await primary.standby()];
  await primary.stop();
  const proxies = await Promise.all(nodes.map(({ port }) => startProxy(() => port)));
  const path = snapshot();
  const told = { acknowledged: new Map<string, number>(), wrong: [] };
  const world: World = { ...{ nodes, proxies, path, random, ...told }, instances: [] };
  for (const node of nodes) await start(world, node);
  for (let i = 0; i < 3; i++) world.instances.push(await startInstance(world));
  return world;
}

/** Starts a server whose commits wait for one of the others. */
async function start({ nodes }: World, node: Database): Promise<void> {
  const names = nodes.map(({ port }) => `n${port}`).join(', ');
  await node.start([`synchronous_standby_names=ANY 1 (${names})`]);
}

function startInstance({ nodes, proxies, path }: World): Promise<Service> {
  const journal = addressBehind(nodes[0]!, proxies);
  return startService(['--snapshot', path, '--workers', '2'], { WAYPOST_JOURNAL: journal });
}

/** The address of the servers behind the proxies. */
function addressBehind(node: Database, proxies: readonly CuttingProxy[]): string {
  const { username, password } = new URL(node.address());
  const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join();
  return `postgres://${username}:${password}@${hosts}/postgres`;
}

/** Posts points until aborted, each again and again until it is acknowledged. */
async function postOn(world: World, name: string, signal: AbortSignal): Promise<void> {
  const { acknowledged, instances, wrong } = world;
  for (let count = 0, turn = 0; !signal.aborted; count++) {
    const key = `${name}-${count}`;
    for (;;) {
      const reply = await postKeyed(instances[turn++ % 3]!, key).catch(() => undefined);
      if (reply?.status === 201) {
        const sequence = Number(reply.headers['waypost-sequence']);
        acknowledged.set(key, sequence);
        const { id } = reply.json<{ id: number }>();
        await readBack(instances[turn % 3]!, id, sequence, wrong);
        break;
      }
      if (reply !== undefined && reply.status !== 503) wrong.push(`${reply.status} ${reply.text}`);
      await delay(20);
    }
  }
}

/** Reads a point from another instance, which may answer 503 until it has the point. */
async function readBack(
  { get }: Service,
  id: number,
  sequence: number,
  wrong: string[],
): Promise<void> {
  const headers = { 'Waypost-At-Least': String(sequence) };
  const reply = await get(`${LIST}${id}/`, { headers }).catch(() => undefined);
  if (reply === undefined || reply.status === 200) return;
  if (reply.status !== 503 || !reply.text.includes('not there yet')) {
    wrong.push(`${id}: ${reply.status} ${reply.text}`);
  }
}

/** Reads that wait for no sequence, which must never fail while the instance runs. */
async function readOn({ instances, wrong }: World, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const reply = await instances[turn % 3]!.get(`${LIST}?page_size=5`).catch(() => undefined);
    if (reply !== undefined && reply.status !== 200) wrong.push(`read: ${reply.status}`);
    await delay(10);
  }
}

async function check(world: World, seed: number, label: string): Promise<void> {
  const { acknowledged, instances, wrong } = world;
  assert.equal(wrong, [], label);
  const last = [...acknowledged.values()].reduce((most, one) => Math.max(most, one), 0);
  const headers = { 'Waypost-At-Least': String(last) };
  for (const one of instances) {
    await until(`${label}: ${last} is there`, async () => {
      return (await one.get(LIST, { headers })).status === 200;
    });
    const counts = new Map<string, number>();
    for (const { comment } of await listAll(one)) {
      counts.set(String(comment), (counts.get(String(comment)) ?? 0) + 1);
    }
    for (const key of acknowledged.keys()) assert.is(counts.get(key), 1, `${label}: ${key}`);
  }
  await assertSame(instances, seed, 50, last);
}

test.run();
