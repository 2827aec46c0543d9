import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryOf, processTree } from '../../bench/support/proc.js';
import { type Asking, ask } from '../support/client.js';
import { makeFolder } from '../support/folder.js';
import { countOf, markedLines, replaceFile } from '../support/marked.js';
import { notification } from '../support/native.js';
import { type Ready, readyOf } from '../support/operating.js';
import { MAIN } from '../support/service.js';
import { freePort } from '../support/sockets.js';
import { until } from '../support/wait.js';

/** A service under siege: two threads, a watched folder, and a disk too small for its log. */
export interface Arena {
  readonly port: number;
  /** The folder whose newest whole snapshot is served. */
  readonly folder: string;
  readonly notifications: string;
  /** Why the log goes straight to /dev/full instead of a small disk; undefined when it does not. */
  readonly withoutDisk: string | undefined;
  /** The process that serves, below the supervisor. */
  pid(): number;
  /** Bytes of memory of all its processes. */
  memory(): number;
  /** Puts the next good snapshot in place and returns its mark. */
  putNext(write?: (path: string, content: Buffer) => void | Promise<void>): Promise<number>;
  /** Resolves once the last good snapshot is served. */
  served(what: string): Promise<void>;
  ready(): Promise<Ready>;
  metric(pattern: RegExp): Promise<number>;
  /** Empties the disk of the log; returns what was on it. */
  emptyLog(): string;
  /** What the service wrote to standard error, such as the last words of Node. */
  lastWords(): string;
  /** Ends the service; resolves with its exit code. */
  stop(): Promise<number | null>;
}

export const NOTIFICATION: string = JSON.stringify(notification(1, 'x'.repeat(60)));

/** A machine that is busy with an attack needs its time. */
const PATIENCE_MS = 120_000;
const LOG_DISK = 'size=128k';
/** Small enough for a build to run out of it, and plenty for all else. */
const HEAP = '--max-old-space-size=64';
const FLAGS = ['--workers', '2', '--settle', '50ms', '--access-log', '100'];
/** Why what is newest is not served is told to an admin alone. */
const ADMIN = 'soak';
/** A machine that is busy with other work makes the event loop late, too: nobody is turned away. */
const PATIENT = ['--max-loop-delay', '0'];
/** Few enough for one attacker to take them all. */
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
  const port = await freePort();
  const where = ['--host', '127.0.0.1', '--port', String(port)];
  const what = ['--snapshot', folder, '--notifications', notifications];
  const child = spawn(
    process.execPath,
    [MAIN, 'serve', ...where, ...what, ...FLAGS, '--admin-token', ADMIN, ...PATIENT, ...LIMITS],
    {
      stdio: ['ignore', log, 'pipe'],
      env: { ...process.env, NODE_OPTIONS: HEAP },
    },
  );
  closeSync(log);
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);

  const service: Asking = { get: (path, asked) => ask(port, path, asked) };
  const ready = (): Promise<Ready> => readyOf(service, { Authorization: `Bearer ${ADMIN}` });
  await until('the service answers', async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${stderr}`);
    return ready().catch(() => undefined);
  });
  return {
    port,
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
        // where descriptors are short, this connection is reset as others are
        const now = await ready().catch(() => undefined);
        return now?.points === countOf(mark);
      };
      return until(`${text}: snapshot ${mark} is served`, isServed, PATIENCE_MS);
    },
    ready,
    async metric(pattern) {
      const { text } = await service.get('/metrics');
      return Number(pattern.exec(text)?.[1] ?? Number.NaN);
    },
    emptyLog() {
      if (withoutDisk !== undefined) return '';
      const text = readFileSync(logPath, 'utf8');
      writeFileSync(logPath, '');
      return text;
    },
    lastWords: () => stderr,
    async stop() {
      child.kill('SIGTERM');
      const code = await ended;
      process.off('exit', kill);
      if (withoutDisk === undefined) spawnSync('umount', ['-l', disk]);
      return code;
    },
  };
}
