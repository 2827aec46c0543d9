import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The compiled command, built beside the benches. */
export const MAIN: string = join(import.meta.dirname, '../../src/main.js');

/** A server in a process of its own on a free port of 127.0.0.1. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from starting the process to its first word that it listens. */
  readonly startMs: number;
  /** Stops reading what the process logs, so that the pipe fills up. */
  pauseLog(): void;
  /** Ends it and waits until it is gone; the end of the run does so at the latest. */
  stop(): Promise<void>;
}

/** Starts `waypost serve` from this build; `flags` come on top of a free port and no journal. */
export function startService(snapshot: string, flags: readonly string[] = []): Promise<Server> {
  const own = ['serve', '--host', '127.0.0.1', '--port', '0', '--snapshot', snapshot];
  own.push('--journal', 'none');
  return startServer(MAIN, [...own, ...flags]);
}

/**
 * Starts a script that logs a JSON line with an `address` once it listens. Rejects with what it
 * wrote to standard error when it ends before. The process dies with this one at the latest.
 */
export async function startServer(script: string, args: readonly string[]): Promise<Server> {
  const started = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: withoutSettings(),
  });
  const ended = dieTogether(child);
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-10_000);
  });
  const lines = createInterface({ input: child.stdout! });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const address = addressIn(line);
      if (address !== undefined) resolve(address);
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`${args[0]} ended with ${code}: ${stderr}`)));
  });
  const stop = async (): Promise<void> => {
    lines.resume();
    child.kill('SIGTERM');
    await ended;
  };
  atEnd(stop);
  return {
    url,
    pid: child.pid!,
    startMs: performance.now() - started,
    pauseLog: () => lines.pause(),
    stop,
  };
}

const ends: (() => Promise<unknown>)[] = [];

/** Registers work for the end of the run, whether it fails or not; the last is done first. */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

/** Does all that was to be done {@link atEnd}. */
export async function endRun(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
}

/** Kills a child when this process ends, however it does; resolves with its code once it ended. */
export async function dieTogether(child: ChildProcess): Promise<number | null> {
  children.add(child);
  const [code] = await once(child, 'close');
  children.delete(child);
  return code;
}

const children = new Set<ChildProcess>();
const folders: string[] = [];

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const one of folders) rmSync(one, { recursive: true, force: true, maxRetries: 5 });
});

/** A new folder, under that of the system by default, which is removed when this process ends. */
export function temporaryFolder(name: string, within: string = tmpdir()): string {
  const folder = mkdtempSync(join(within, `waypost-${name}-`));
  folders.push(folder);
  return folder;
}

/** The environment without settings of the service, which would change what is measured. */
export function withoutSettings(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYPOST_'));
  return Object.fromEntries(entries);
}

function addressIn(line: string): string | undefined {
  try {
    const { address } = JSON.parse(line) as { address?: unknown };
    return typeof address === 'string' ? address : undefined;
  } catch {
    return undefined;
  }
}
