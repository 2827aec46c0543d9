import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ATTACKS } from '../../bench/attacks/kinds.js';
import type { Attack } from '../../bench/attacks/material.js';
import { type RunningAttack, startAttack } from '../../bench/attacks/start.js';
import { benchRandom } from '../../bench/places.js';
import { memoryOf, processTree } from '../../bench/support/proc.js';
import type { Random } from '../../src/cli/generate/random.js';
import { type Load, type LoadResult, startLoad } from '../support/load.js';
import { BASE_COUNT, countOf, markedLines, replaceFile } from '../support/marked.js';
import { notification } from '../support/native.js';
import { metricsOf, type Ready, readyOf } from '../support/operating.js';
import { startUnheard } from '../support/service.js';
import { assert, makeFile, makeFolder, test, until } from '../support/uvu.js';

const NOTIFICATION = JSON.stringify(notification(1, 'x'.repeat(60)));

/** Long, because attacks keep the machine busy. */
const SERVED_MS = 120_000;
const LOG_DISK = 'size=128k';
/** A build can exhaust this heap, and nothing else does. */
const HEAP = '--max-old-space-size=64';
const FLAGS = ['--workers', '2', '--settle', '50ms', '--access-log', '100'];
/** The admin token: only admins are told why the newest file is not served. */
const ADMIN = 'soak';
/** One attacker can take all connections. */
const LIMITS = ['--max-connections', '1000', '--request-timeout', '10s'];

/**
 * Starts a service to attack on a folder with one good snapshot: two threads, and a disk too small
 * for its log.
 */
async function openArena() {
  const folder = makeFolder();
  const notifications = makeFile(`${NOTIFICATION}\n`, 'notifications');
  let mark = 1;
  let current = join(folder, `good-${mark}`);
  fs.writeFileSync(current, markedLines(mark));

  const disk = makeFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', LOG_DISK, 'tmpfs', disk]);
  const withoutDisk = mounted.status === 0 ? undefined : 'no disk of its own could be mounted';
  const logPath = withoutDisk === undefined ? join(disk, 'log') : '/dev/full';
  const log = fs.openSync(logPath, 'a');
  const what = ['--snapshot', folder, '--notifications', notifications, '--admin-token', ADMIN];
  const service = await startUnheard([...what, ...FLAGS, ...LIMITS], log, { NODE_OPTIONS: HEAP });
  fs.closeSync(log);
  const { child } = service;
  const ended = once(child, 'close');
  const ready = (): Promise<Ready> => readyOf(service, { Authorization: `Bearer ${ADMIN}` });
  return {
    port: service.port,
    get: service.get,
    folder,
    notifications,
    /** Why the log goes to /dev/full instead of a small disk; undefined when it does not. */
    withoutDisk,
    /** The supervisor's child, which serves. */
    pid: () => processTree(child.pid!)[1]!,
    /** Memory of all processes, in bytes. */
    memory: () => memoryOf(child.pid!)!.rss,
    /** Puts the next good snapshot in place and returns its mark. */
    async putNext(write: Write = replaceFile): Promise<number> {
      const before = current;
      current = join(folder, `good-${++mark}`);
      await write(current, markedLines(mark));
      fs.rmSync(before);
      return mark;
    },
    /** Resolves once the last good snapshot is served. */
    served(text: string): Promise<void> {
      const isServed = async (): Promise<boolean> => {
        // this connection may be reset, too, while descriptors are short
        const now = await ready().catch(() => undefined);
        return now?.points === countOf(mark);
      };
      return until(`${text}: snapshot ${mark} is served`, isServed, SERVED_MS);
    },
    ready,
    /** Empties the log; returns what it held. */
    emptyLog(): string {
      if (withoutDisk !== undefined) return '';
      const text = fs.readFileSync(logPath, 'utf8');
      fs.writeFileSync(logPath, '');
      return text;
    },
    /** What the service wrote to standard error, such as Node's fatal errors. */
    lastWords: service.lastWords,
    /** Stops the service; resolves with its exit code. */
    async stop(): Promise<number | null> {
      child.kill('SIGTERM');
      const [code] = await ended;
      if (withoutDisk === undefined) spawnSync('umount', ['-l', disk]);
      return code;
    },
  };
}

type Arena = Awaited<ReturnType<typeof openArena>>;
type Write = (path: string, content: Buffer) => void | Promise<void>;

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
        fs.writeFileSync(path, content.subarray(0, half));
        // longer than --settle
        await delay(150);
        fs.appendFileSync(path, content.subarray(half));
      });
      await arena.served(`after a pause in the middle, round ${round}`);
    }
    for (const index of BAD.keys()) fs.rmSync(join(arena.folder, `bad-${index}`));
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
      fs.readFileSync(`/proc/${pid}/limits`, 'utf8'),
    )!;
    for (let round = 0; round < ROUNDS; round++) {
      limit(pid, `${fs.readdirSync(`/proc/${pid}/fd`).length}:${hard}`);
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
  for (const name of fs.readdirSync(arena.folder)) {
    if (name.startsWith('junk-')) fs.rmSync(join(arena.folder, name));
  }
}

test.after(async () => {
  await Promise.all(running.map((one) => one.end()));
  await endAll(loads);
  assert.is(await arena.stop(), 0, `seed ${SEED}: the exit code`);
});

test.run();
