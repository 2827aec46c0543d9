import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKS } from '../../bench/attacks/kinds.js';
import type { Attack } from '../../bench/attacks/material.js';
import { type RunningAttack, startAttack } from '../../bench/attacks/start.js';
import { benchRandom } from '../../bench/places.js';
import type { Random } from '../../src/cli/generate/random.js';
import { type Load, type LoadResult, startLoad } from '../support/load.js';
import { BASE_COUNT, countOf } from '../support/marked.js';
import { assert, test, until } from '../support/uvu.js';
import { type Arena, openArena } from './arena.js';
import { FAULTS, type Fault } from './faults.js';

const SEED = Number(process.env['SOAK_SEED'] ?? Date.now() % 1_000_000);
/** Attacks beside each fault. */
const AT_ONCE = 3;
/** Duration of each attack. */
const ATTACK_MS = 800;
const LONGEST_SECONDS = 120;
/** Long: on a busy machine ordinary clients may wait, but must be answered. */
const PATIENCE_MS = 60_000;
/** Memory at the end, as a multiple of that after each attack was made once. */
const MOST_GROWTH = 1.3;
const random = benchRandom(SEED, 400);
/** Without posts, which would change the count of points; benches attack with posts. */
const ATTACKING = ATTACKS.filter(({ isPosting }) => isPosting !== true);
let arena: Arena;
let loads: Load[] = [];
let running: RunningAttack[] = [];

console.log(`seed ${SEED}: repeat with SOAK_SEED=${SEED}`);

function begin({ name }: Attack): Promise<RunningAttack> {
  const { port, folder } = arena;
  const order = { attack: name, port, folder, points: BASE_COUNT, seed: SEED };
  return startAttack({ ...order, maxSeconds: LONGEST_SECONDS });
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = items.slice();
  return items.map(() => left.splice(random.int(left.length), 1)[0]!);
}

/** Starts clients that keep their connections, and clients that open one a request. */
async function startClients(): Promise<void> {
  const order = { port: arena.port, connections: 2, marked: true, again: true };
  const kinds = [false, true].map((fresh) => ({ ...order, fresh, patienceMs: PATIENCE_MS }));
  loads = await Promise.all(kinds.map(startLoad));
}

/** Ends the ordinary clients and checks that none had a failure. */
async function endClients(what: string, { mayDrop = false }: Partial<Fault> = {}): Promise<void> {
  const ending = loads;
  loads = [];
  for (const { answered, failures, refused, dropped } of await endAll(ending)) {
    assert.equal([failures, refused], [[], 0], `${what}, seed ${SEED}`);
    if (!mayDrop) assert.is(dropped, 0, `${what}, seed ${SEED}: connections were dropped`);
    assert.ok(answered > 0, `${what}, seed ${SEED}: ${answered} answers`);
  }
}

function endAll(all: readonly Load[]): Promise<LoadResult[]> {
  return Promise.all(all.map((load) => load.end()));
}

test.before(async () => {
  arena = await openArena();
  if (arena.withoutDisk !== undefined)
    console.log(`the log goes to /dev/full: ${arena.withoutDisk}`);
});

test('ordinary clients notice neither attacks nor faults, and memory stays flat', async () => {
  for (const attack of shuffled(ATTACKING, random)) {
    await startClients();
    const one = await begin(attack);
    await until(`${attack.name} does something`, () => one.tally.opened + one.tally.sent > 0);
    await delay(ATTACK_MS);
    await one.end();
    await endClients(attack.name);
  }
  await arena.putNext();
  await arena.served('after every attack');
  const warm = arena.memory();

  const attacks = shuffled(ATTACKING, random);
  for (const [turn, fault] of shuffled(FAULTS, random).entries()) {
    if (fault.skipped !== undefined) {
      console.log(`skipped: ${fault.name}: ${fault.skipped}`);
      continue;
    }
    await startClients();
    const chosen = attacks.slice(turn * AT_ONCE, (turn + 1) * AT_ONCE);
    const what = `${fault.name} beside ${chosen.map(({ name }) => name).join(', ')}`;
    const began = performance.now();
    running = await Promise.all(chosen.map(begin));
    await fault.run(arena).catch((error: Error) => {
      const words = arena.lastWords().slice(0, 1_000);
      throw new Error(`${what}, seed ${SEED}: ${error.message}; ${words}`, { cause: error });
    });
    await Promise.all(running.map((one) => one.end()));
    running = [];
    await endClients(what, fault);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${what}: ${seconds} s, ${Math.round(arena.memory() / 1e6)} MB`);
  }

  removeJunk();
  const mark = await arena.putNext();
  await arena.served('at the end');
  await until('nothing is stale', async () => !(await arena.ready()).stale);
  assert.is((await arena.ready()).points, countOf(mark));
  const most = warm * MOST_GROWTH;
  await until(
    `memory is below ${Math.round(most / 1e6)} MB, seed ${SEED}`,
    () => arena.memory() < most,
  );
});

/** Removes the files of the attack with snapshots. */
function removeJunk(): void {
  for (const name of readdirSync(arena.folder)) {
    if (name.startsWith('junk-')) rmSync(join(arena.folder, name));
  }
}

test.after(async () => {
  await Promise.all(running.map((one) => one.end()));
  await endAll(loads);
  assert.is(await arena.stop(), 0, `seed ${SEED}: the exit code`);
});

test.run();
