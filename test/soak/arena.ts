import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryOf, processTree } from '../../bench/support/proc.js';
import type { Asking } from '../support/client.js';
import { makeFolder } from '../support/folder.js';
import { countOf, markedLines, replaceFile } from '../support/marked.js';
import { notification } from '../support/native.js';
import { type Ready, readyOf } from '../support/operating.js';
import { startUnheard } from '../support/service.js';
import { until } from '../support/wait.js';

/** A service to attack: two threads, a watched folder, and a disk too small for its log. */
export interface Arena extends Asking {
  readonly port: number;
  /** The folder whose newest whole snapshot is served. */
  readonly folder: string;
  readonly notifications: string;
  /** Why the log goes to /dev/full instead of a small disk; undefined when it does not. */
  readonly withoutDisk: string | undefined;
  /** The supervisor's child, which serves. */
  pid(): number;
  /** Memory of all processes, in bytes. */
  memory(): number;
  /** Puts the next good snapshot in place and returns its mark. */
  putNext(write?: (path: string, content: Buffer) => void | Promise<void>): Promise<number>;
  /** Resolves once the last good snapshot is served. */
  served(what: string): Promise<void>;
  ready(): Promise<Ready>;
  /** Empties the log; returns what it held. */
  emptyLog(): string;
  /** What the service wrote to standard error, such as Node's fatal errors. */
  lastWords(): string;
  /** Stops the service; resolves with its exit code. */
  stop(): Promise<number | null>;
}

export const NOTIFICATION: string = JSON.stringify(notification(1, 'x'.repeat(60)));

/** Long, because attacks keep the machine busy. */
const PATIENCE_MS = 120_000;
const LOG_DISK = 'size=128k';
/** A build can exhaust this heap, and nothing else does. */
const HEAP = '--max-old-space-size=64';
const FLAGS = ['--workers', '2', '--settle', '50ms', '--access-log', '100'];
/** The admin token: only admins are told why the newest file is not served. */
const ADMIN = 'soak';
/** One attacker can take all connections. */
const LIMITS = ['--max-connections', '1000', '--request-timeout', '10s'];

/** Starts the service on a folder with one good snapshot. */
export async function openArena(): Promise<Arena> {
  const folder = makeFolder();
  const notifications = join(makeFolder(), 'notifications');
  writeFileSync(notifications, `${NOTIFICATION}\n`);
  let mark = 1;
  let current = join(folder, `good-${mark}`);
  writeFileSync(current, markedLines(mark));

  const disk = makeFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', LOG_DISK, 'tmpfs', disk]);
  const withoutDisk = mounted.status === 0 ? undefined : 'no disk of its own could be mounted';
  const logPath = withoutDisk === undefined ? join(disk, 'log') : '/dev/full';
  const log = openSync(logPath, 'a');
  const what = ['--snapshot', folder, '--notifications', notifications, '--admin-token', ADMIN];
  const service = await startUnheard([...what, ...FLAGS, ...LIMITS], log, { NODE_OPTIONS: HEAP });
  closeSync(log);
  const { child } = service;
  const ended = once(child, 'close');
  const ready = (): Promise<Ready> => readyOf(service, { Authorization: `Bearer ${ADMIN}` });
  return {
    port: service.port,
    get: service.get,
    folder,
    notifications,
    withoutDisk,
    pid: () => processTree(child.pid!)[1]!,
    memory: () => memoryOf(child.pid!)!.rss,
    async putNext(write = replaceFile) {
      const before = current;
      current = join(folder, `good-${++mark}`);
      await write(current, markedLines(mark));
      rmSync(before);
      return mark;
    },
    served(text) {
      const isServed = async (): Promise<boolean> => {
        // this connection may be reset, too, while descriptors are short
        const now = await ready().catch(() => undefined);
        return now?.points === countOf(mark);
      };
      return until(`${text}: snapshot ${mark} is served`, isServed, PATIENCE_MS);
    },
    ready,
    emptyLog() {
      if (withoutDisk !== undefined) return '';
      const text = readFileSync(logPath, 'utf8');
      writeFileSync(logPath, '');
      return text;
    },
    lastWords: service.lastWords,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      if (withoutDisk === undefined) spawnSync('umount', ['-l', disk]);
      return code;
    },
  };
}
