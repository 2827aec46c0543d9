import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { atEnd, dieTogether } from '../support/service.js';
import type { Backend } from './types.js';

export interface Row {
  readonly id: number;
  readonly lat: number;
  readonly lon: number;
  readonly body: string;
}

const READY_TRIES = 100;

/** The records of an NDJSON file, in batches. */
export async function* rowBatches(path: string, size: number): AsyncGenerator<Row[]> {
  let batch: Row[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const { id, lat, lon } = JSON.parse(line) as { id: number; lat: string; lon: string };
    batch.push({ id, lat: Number(lat), lon: Number(lon), body: line });
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Starts a server that stays in the foreground, and waits until `isReady` no longer throws. It ends
 * with the run.
 */
export async function startBackend(
  program: string,
  args: readonly string[],
  port: number,
  isReady: () => Promise<void>,
  user?: { readonly uid: number; readonly gid: number },
): Promise<Backend> {
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...user,
  });
  const ended = dieTogether(child);
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-4_000);
  });
  atEnd(() => {
    child.kill('SIGINT');
    return ended;
  });
  for (let i = 0; ; i++) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${stderr}`);
    try {
      await isReady();
      break;
    } catch (error) {
      if (i === READY_TRIES) throw new Error(`${program} does not answer: ${error} ${stderr}`);
      await delay(100);
    }
  }
  return { port, pid: child.pid! };
}
