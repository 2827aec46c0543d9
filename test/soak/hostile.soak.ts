import { spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ATTACKS } from '../../bench/attacks/kinds.js';
import type { Attack } from '../../bench/attacks/material.js';
import { type RunningAttack, startAttack } from '../../bench/attacks/start.js';
import { benchRandom } from '../../bench/places.js';
import type { Random } from '../../src/cli/generate/random.js';
import { type Load, type LoadResult, startLoad } from '../support/load.js';
import { BASE_COUNT, countOf, markedLines, replaceFile } from '../support/marked.js';
import { metricsOf } from '../support/operating.js';
import { assert, test, until } from '../support/uvu.js';
import { type Arena, NOTIFICATION, openArena } from './arena.js';

/** A fault around a service, which `run` ends again. */
interface Fault {
  readonly name: string;
  /** Whether new connections may be reset during the fault. */
  readonly mayDrop?: boolean;
  /** Why the fault cannot be tried here. */
  readonly skipped?: string | undefined;
  run(arena: Arena): Promise<void>;
}

const STALL_MS = 2_000;
const ROUNDS = 4;

const BAD: readonly Buffer[] = [
  Buffer.from('garbage\n'),
  Buffer.alloc(0),
  Buffer.alloc(50_000),
  gzipSync(markedLines(900)).subarray(0, 9_000),
  markedLines(900).subarray(0, 100_001),
  Buffer.concat([markedLines(900), markedLines(900)]),
  // lost more than half of its points
  markedLines(900, 100),
];

const reloads: Fault = {
  name: 'snapshots of every kind',
  async run(arena) {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, content] of BAD.entries()) {
        replaceFile(join(arena.folder, `bad-${index}`), content);
        if (index % 3 === round % 3) {
          await arena.putNext();
          await arena.served(`among bad ones, round ${round}`);
        }
      }
      await arena.putNext(async (path, content) => {
        const half = content.lastIndexOf('\n', content.length / 2) + 1;
        writeFileSync(path, content.subarray(0, half));
        // longer than --settle
        await delay(150);
        appendFileSync(path, content.subarray(half));
      });
      await arena.served(`after a pause in the middle, round ${round}`);
    }
    for (const index of BAD.keys()) rmSync(join(arena.folder, `bad-${index}`));
  },
};

const fullDisk: Fault = {
  name: 'a full disk for the log',
  async run(arena) {
    for (let round = 0; round < ROUNDS; round++) {
      await arena.putNext();
      await arena.served('with a full disk for the log');
      if (arena.withoutDisk !== undefined) continue;
      arena.emptyLog();
      await until('lines are written again', () => arena.emptyLog().includes('"msg"'));
    }
    assert.ok((await metricsOf(arena)).value('waypost_log_lines_dropped_total') > 0);
  },
};

const descriptors: Fault = {
  name: 'no descriptors left',
  // the system closes connections that the service cannot accept
  mayDrop: true,
  skipped: spawnSync('prlimit', ['--version']).status === 0 ? undefined : 'prlimit is missing',
  async run(arena) {
    const pid = arena.pid();
    const [, soft, hard] = /^Max open files +(\d+) +(\d+)/m.exec(
      readFileSync(`/proc/${pid}/limits`, 'utf8'),
    )!;
    for (let round = 0; round < ROUNDS; round++) {
      limit(pid, `${readdirSync(`/proc/${pid}/fd`).length}:${hard}`);
      await arena.putNext();
      await delay(1_000);
      limit(pid, `${soft}:${hard}`);
      await arena.served('with descriptors again');
    }
  },
};

function limit(pid: number, files: string): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${files}`]);
  assert.is(status, 0, String(stderr));
}

const stops: Fault = {
  name: 'a process that stands still',
  async run(arena) {
    const pid = arena.pid();
    for (let round = 0; round < 2; round++) {
      process.kill(pid, 'SIGSTOP');
      await arena.putNext();
      await delay(STALL_MS);
      process.kill(pid, 'SIGCONT');
      await arena.served('after it stood still');
    }
  },
};

const memory: Fault = {
  name: 'a build out of memory',
  async run(arena) {
    const many = Array.from({ length: 350_000 }, (_, i) =>
      NOTIFICATION.replace('"id":1,', `"id":${i + 1},`),
    );
    replaceFile(arena.notifications, `${many.join('\n')}\n`);
    // the reason is checked, because builds may also fail by attacks
    const hasFailed = async () => (await arena.ready()).reason?.includes('memory') === true;
    await until('a build fails', hasFailed, 180_000);
    replaceFile(arena.notifications, `${NOTIFICATION}\n`);
    await arena.putNext();
    await arena.served('after a build ran out of memory');
  },
};

const FAULTS: readonly Fault[] = [reloads, fullDisk, descriptors, stops, memory];

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
  const bound = `memory is below ${Math.round(most / 1e6)} MB, seed ${SEED}`;
  await until(bound, () => arena.memory() < most);
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
