import { utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { requestBytes } from '../generators/answers.js';
import { LIST } from '../places.js';
import { type Attack, circleQuery, deepQuery, junkFiles, packetOf, REFUSED } from './material.js';
import { POST_ATTACKS } from './posts.js';
import { closed, ended, flood, open, pause, repeat } from './sockets.js';

/** Connections of a closed-loop attacker. */
const LOOPS = 4;
/** Connections that a service of {@link FEW_CONNECTIONS} holds. */
const MAX_CONNECTIONS = 1_000;
const FEW_CONNECTIONS = ['--max-connections', String(MAX_CONNECTIONS)];
const LARGE_PAGE = requestBytes(`${LIST}?page_size=1000`);

/**
 * For comparison: a computing thread for each core, and no requests. It shows what a machine whose
 * cores are all busy does to ordinary clients by itself.
 */
export const CONTROL: Attack = {
  name: 'control',
  title: 'nothing is sent, but all cores compute',
  isAtNormalPriority: true,
  async run({ signal, tally }) {
    const threads = Array.from(
      { length: availableParallelism() },
      () => new Worker('for (;;);', { eval: true }),
    );
    tally.sent++;
    await ended(signal);
    await Promise.all(threads.map((thread) => thread.terminate()));
  },
};

/** In the order of the table. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'heavy-circles',
    title: 'circles beyond 160°, any order and page',
    run: (target) => flood(target, LOOPS, () => requestBytes(`${LIST}?${circleQuery(target)}`)),
  },
  {
    name: 'deep-pages',
    title: 'deep pages of 1,000 in windows, orders and circles',
    run: (target) => flood(target, LOOPS, () => requestBytes(`${LIST}?${deepQuery(target)}`)),
  },
  {
    name: 'html-pages',
    title: 'browsable pages of 1,000',
    run: (target) =>
      flood(target, LOOPS, () => {
        const page = 1 + target.random.int(Math.max(1, target.points / 1_000));
        return requestBytes(`${LIST}?page_size=1000&format=api&page=${page}`);
      }),
  },
  {
    name: 'packets',
    title: '64 kB of heavy requests in one packet, five times a second, by clients that leave',
    run: (target) =>
      repeat(target, 1, async () => {
        const socket = open(target);
        const bytes = packetOf(() => requestBytes(`${LIST}?${circleQuery(target)}`));
        target.tally.sent++;
        socket.write(bytes, () => setTimeout(() => socket.destroy(), 20));
        await closed(socket);
        await pause(180, target.signal);
      }),
  },
  {
    name: 'unread-pages',
    title: '951 pages of 1,000 asked for over each of 40 connections that are not read, up to 200',
    run: async (target) => {
      const bytes = Buffer.concat(Array.from({ length: 951 }, () => LARGE_PAGE));
      for (let wave = 0; wave < 5 && !target.signal.aborted; wave++) {
        for (let i = 0; i < 40; i++) {
          const socket = open(target);
          socket.pause();
          socket.write(bytes);
          target.tally.sent++;
        }
        await pause(1_000, target.signal);
      }
      await ended(target.signal);
    },
  },
  {
    name: 'idle',
    title: `idle connections, up to a limit of ${MAX_CONNECTIONS} and beyond`,
    flags: FEW_CONNECTIONS,
    run: (target) =>
      repeat(target, MAX_CONNECTIONS + 200, async (index) => {
        // one connection a millisecond: thousands at once are a matter for the firewall
        await pause(target.tally.opened < MAX_CONNECTIONS + 200 ? index : 1_000, target.signal);
        const socket = open(target);
        socket.write(requestBytes('/health/live'));
        socket.resume();
        await closed(socket);
      }),
  },
  {
    name: 'slow-heads',
    title: '500 connections that send a byte of their request a second',
    run: (target) =>
      repeat(target, 500, async () => {
        const socket = open(target);
        const bytes = requestBytes(LIST, `X-Slow: ${'x'.repeat(200)}\r\n`);
        let sent = 0;
        socket.resume();
        const timer = setInterval(() => socket.write(bytes.subarray(sent, ++sent)), 1_000);
        await closed(socket);
        clearInterval(timer);
      }),
  },
  {
    name: 'huge-heads',
    title: 'headers of a megabyte',
    run: (target) => {
      const bytes = requestBytes(LIST, `X-Large: ${'x'.repeat(1_000_000)}\r\n`);
      return flood(target, LOOPS, () => bytes);
    },
  },
  {
    name: 'churn',
    title: 'connections that are opened and closed, with a request and without',
    run: (target) =>
      repeat(target, 8, async (index) => {
        const socket = open(target);
        socket.resume();
        const isEmpty = index % 4 === 0;
        if (isEmpty) socket.once('connect', () => socket.resetAndDestroy());
        else socket.write(requestBytes(`${LIST}?page_size=1`, 'Connection: close\r\n'));
        await closed(socket);
      }),
  },
  {
    name: 'junk',
    title: 'bytes that are no HTTP',
    run: (target) =>
      repeat(target, 8, async () => {
        const socket = open(target);
        socket.resume();
        const bytes = Buffer.from(Array.from({ length: 1_024 }, () => target.random.int(256)));
        socket.write(bytes);
        target.tally.sent++;
        await closed(socket);
      }),
  },
  {
    name: 'stuck-log',
    title: 'a log of every request whose reader stands still',
    flags: ['--access-log', '100'],
    isLogUnread: true,
    run: (target) => {
      const bytes = requestBytes(`${LIST}?page_size=1&x=${'x'.repeat(10_000)}`);
      return flood(target, LOOPS, () => bytes);
    },
  },
  {
    name: 'refused',
    title: 'requests that end with 400, 401, 404, 405 and 406',
    run: (target) => flood(target, LOOPS, () => target.random.pick(REFUSED)),
  },
  {
    name: 'metrics',
    title: '/metrics and /health/ready again and again',
    run: (target) => {
      const both = [requestBytes('/metrics'), requestBytes('/health/ready')];
      return flood(target, LOOPS, () => target.random.pick(both));
    },
  },
  {
    name: 'cache-thrash',
    title: 'pages of 1,000 asked for three times each, which fill the answer cache',
    run: (target) => {
      let turn = 0;
      return flood(target, LOOPS, () => {
        const page = 1 + (Math.floor(turn++ / 3) % Math.max(1, Math.floor(target.points / 1_000)));
        return requestBytes(`${LIST}?page_size=1000&page=${page}`);
      });
    },
  },
  {
    name: 'junk-snapshots',
    title: 'a new snapshot a second that is none',
    async run({ folder, signal, tally, random }) {
      const files = junkFiles();
      for (let turn = 0; !signal.aborted; turn++) {
        const [suffix, content] = random.pick(files);
        const path = join(folder, `junk-${turn % 50}.${suffix}`);
        writeFileSync(path, content);
        // a time that makes it the newest snapshot
        const time = Date.now() / 1000 + turn;
        utimesSync(path, time, time);
        tally.sent++;
        await pause(1_000, signal);
      }
    },
  },
  ...POST_ATTACKS,
];

/** The attack of a name; throws with the names there are. */
export function attackOf(name: string): Attack {
  const found = [CONTROL, ...ATTACKS].find((one) => one.name === name);
  if (found !== undefined) return found;
  const all = ATTACKS.map((one) => one.name).join(', ');
  throw new Error(`No attack is called ${JSON.stringify(name)}; there are ${all}.`);
}
