import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandOf, processTree } from '../../bench/support/proc.js';
import { Random } from '../../src/cli/generate/random.js';
import { aheadBy } from '../support/faults.js';
import {
  FIRST_NOTE,
  keepsPromises,
  noLitter,
  PLAIN,
  postOn,
  type Told,
  toldNothing,
} from '../support/kept-posts.js';
import { MAIN, runCommand, type Service, startService } from '../support/service.js';
import { assert, IS_SOAK, makeFolder, test } from '../support/uvu.js';

const CLIENTS = 6;
/** Enough for thousands of posts within seconds, which start a merge. */
const MERGE_CLIENTS = 24;
/** Pause of a client between two posts, where no merge is waited for. */
const PAUSE_MS = 4;
const HOUR_MS = 3_600_000;
/** How much later each service's clock is than the last one's: posts are pruned after a day. */
const STEP_MS = 3 * HOUR_MS;
const FLAGS = [
  ...['--max-shrink', '100', '--settle', '0', '--log-level', 'debug', '--admin-token', 'secret'],
  // the machine may be busy with other work
  ...['--image-timeout', '40s'],
];

/** Which processes are killed: all of a service, or one of them. */
const VICTIMS = ['all', 'serving', 'all', 'decoder', 'supervisor'] as const;
/** When to kill: at any moment, or when one of these begins. */
const EARLY_MOMENTS = ['any', 'merge', 'reload', 'compact'] as const;
/** Moments from when points are a day old. */
const MOMENTS = [...EARLY_MOMENTS, 'prune'] as const;
const FIRST_DAY_MS = 24 * HOUR_MS + STEP_MS;
type Moment = (typeof MOMENTS)[number];
/** The log line by which a moment has come. */
const LOGGED: Readonly<Record<string, RegExp>> = {
  merge: /^merging accepted points/,
  prune: /^accepted points pruned/,
  reload: /^snapshot loaded/,
};
/** Log lines that are printed when a run fails. */
const LAST_LINES = 30;
/** A kill comes up to so much later than its moment, so that it may hit any step of the work. */
const MOST_STEPS_MS = 30;

/**
 * Has clients post points and images, kills processes of the service at a moment, and looks
 * afterwards whether it keeps its promises: every acknowledged point is there, once, with its
 * image, and keys count. Snapshots with some of the points come meanwhile, posts that they have are
 * pruned as the clock goes on, and other services wait for the journal. Returns how often each
 * victim was killed, each moment was met, a post was acknowledged or pruned, and a waiting service
 * took over the journal.
 */
async function killServices(
  seed: number,
  times: number,
  mostMs: number,
): Promise<Readonly<Record<string, number>>> {
  const random = new Random(seed, 'point');
  const done: Record<string, number> = {};
  const count = (what: string, often = 1): void => {
    done[what] = (done[what] ?? 0) + often;
  };
  const told = toldNothing(true);
  const folder = makeFolder();
  const snapshot = join(folder, 'notes.ndjson');
  const media = join(folder, 'media');
  fs.mkdirSync(media);
  fs.writeFileSync(snapshot, FIRST_NOTE);
  let ahead = 0;
  const start = (): Promise<Service> => {
    ahead += STEP_MS;
    const flags = ['--snapshot', snapshot, '--media', media, '--listen-timeout', '10m', ...FLAGS];
    const workers = String(1 + random.int(2));
    return startService([...flags, '--workers', workers], {
      ...aheadBy(ahead),
      WAYPOST_JOURNAL: join(folder, 'notes.journal'),
    });
  };
  let service = await start();
  try {
    for (let kill = 0; kill < times; kill++) {
      await keepsPromises(service, told, random, `seed ${seed}, kill ${kill}`, ahead);
      const victim = VICTIMS[kill % VICTIMS.length]!;
      const moment = random.pick<Moment>(ahead > FIRST_DAY_MS ? MOMENTS : EARLY_MOMENTS);
      const isWhole = victim === 'all' || victim === 'supervisor';
      // a second service could take the journal of a service that goes on
      const standby = isWhole && random.chance(0.3) ? start() : undefined;
      const stop = new AbortController();
      const [name, length, pause] =
        moment === 'merge'
          ? [`${PLAIN}-${kill}`, MERGE_CLIENTS, 0]
          : [`${kill}`, CLIENTS, PAUSE_MS];
      const clients = Array.from({ length }, (_, i) =>
        postOn(service, `${name}-${i}`, told, pause, stop.signal),
      );
      if (moment === 'prune' || moment === 'reload' || random.chance(0.5)) {
        replaceSnapshot(snapshot, told, random);
      }
      if (await untilMoment(moment, service, snapshot, mostMs, random)) count(moment);
      if (standby !== undefined) await delay(random.int(300));
      if (killOne(service, victim)) count(victim);
      stop.abort();
      await Promise.all(clients);
      count('pruned', logged(service, LOGGED['prune']!));
      if (isWhole) {
        await service.ended;
        service = await (standby ?? start());
        if (standby !== undefined) count('takeover');
      }
      if (moment === 'compact') await compactedIsWhole(snapshot, `seed ${seed}, kill ${kill}`);
    }
    await keepsPromises(service, told, random, `seed ${seed}, at the end`, ahead);
    await noLitter(service, folder, times * CLIENTS);
  } catch (error) {
    // the log is gone after the test
    console.log(seed, done, service.logs.slice(-LAST_LINES));
    throw error;
  } finally {
    killTree(service.pid);
    await service.ended;
  }
  count('acknowledged', told.acknowledged.size);
  return done;
}

/** A snapshot as the upstream makes it: the old one and some of the accepted points. */
function replaceSnapshot(path: string, { acknowledged }: Told, random: Random): void {
  const lines = new Set(fs.readFileSync(path, 'utf8').trim().split('\n'));
  const records = [...acknowledged.values()];
  for (const [index, record] of records.entries()) {
    // one new point at least, or the snapshot retires nothing
    if (random.int(3) === 0 || index === records.length - 1) lines.add(record);
  }
  fs.writeFileSync(`${path}.new.tmp`, `${[...lines].join('\n')}\n`);
  fs.renameSync(`${path}.new.tmp`, path);
}

/** Waits for a moment, for `mostMs` at most. Returns whether it came. */
async function untilMoment(
  moment: Moment,
  service: Service,
  snapshot: string,
  mostMs: number,
  random: Random,
): Promise<boolean> {
  if (moment === 'any') {
    await delay(random.int(700));
    return true;
  }
  const before = moment === 'compact' ? 0 : logged(service, LOGGED[moment]!);
  const compacting = moment === 'compact' ? startCompact(snapshot, service) : undefined;
  const ended = compacting && once(compacting, 'close');
  const hasBegun = (): boolean =>
    moment === 'compact'
      ? fs.readdirSync(join(snapshot, '..')).some((name) => name.startsWith('.waypost-'))
      : logged(service, LOGGED[moment]!) > before;
  const end = performance.now() + mostMs;
  while (!hasBegun() && performance.now() < end) await delay(1);
  const isMet = performance.now() < end;
  await delay(random.int(MOST_STEPS_MS));
  if (random.chance(0.5)) compacting?.kill('SIGKILL');
  await ended;
  return isMet;
}

function logged({ logs }: Service, pattern: RegExp): number {
  return logs.filter(({ msg }) => pattern.test(String(msg))).length;
}

function startCompact(snapshot: string, { port }: Service) {
  const args = ['compact', snapshot, `http://127.0.0.1:${port}`, compactedFrom(snapshot)];
  const env = { ...process.env, WAYPOST_ADMIN_TOKEN: 'secret' };
  return spawn(process.execPath, [MAIN, ...args], { stdio: 'ignore', env });
}

function compactedFrom(snapshot: string): string {
  return `${snapshot}.compacted.waypost`;
}

/** What `waypost compact` left is a whole snapshot, where there is one. */
async function compactedIsWhole(snapshot: string, about: string): Promise<void> {
  const path = compactedFrom(snapshot);
  if (!fs.existsSync(path)) return;
  const { code, stdout, stderr } = await runCommand(['verify', path]);
  assert.is(code, 0, `${about}: ${stdout}${stderr}`);
}

/** Kills processes of a service. Returns whether there were any of the kind. */
function killOne({ pid }: Service, victim: (typeof VICTIMS)[number]): boolean {
  if (victim === 'all') return killTree(pid);
  if (victim === 'supervisor') return kill(pid);
  const [first, ...others] = processTree(pid);
  // a service of one worker has no supervisor
  const wanted = victim === 'decoder' ? /decode-process/ : /main\.js/;
  const found = others.find((other) => wanted.test(commandOf(other)));
  return found === undefined || first === undefined ? false : kill(found);
}

/** Kills a process and its children, which would otherwise end by themselves and in good order. */
function killTree(pid: number): boolean {
  return processTree(pid).map(kill).includes(true);
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

if (!IS_SOAK) {
  test('killed services keep what they acknowledged, once', async () => {
    const { acknowledged } = await killServices(7, 2, 2_000);
    assert.ok(acknowledged! > 5, `${acknowledged}`);
  });
}

for (const seed of IS_SOAK ? [1, 2, 3, 4, 5] : []) {
  test(`seed ${seed}: 40 kills lose and double nothing`, async () => {
    const done = await killServices(seed, 40, 20_000);
    const moments = ['merge', 'reload', 'compact', 'pruned', 'takeover'];
    for (const what of [...VICTIMS, ...moments]) assert.ok(done[what]! > 0, what);
  });
}

test.run();
