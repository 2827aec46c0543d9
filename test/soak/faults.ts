import { spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { markedLines, replaceFile } from '../support/marked.js';
import { metricsOf } from '../support/operating.js';
import { until } from '../support/wait.js';
import { type Arena, NOTIFICATION } from './arena.js';

/** A fault around a service, which `run` ends again. */
export interface Fault {
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

export const FAULTS: readonly Fault[] = [reloads, fullDisk, descriptors, stops, memory];
