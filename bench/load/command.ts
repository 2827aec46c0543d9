import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { memoryOf } from '../support/proc.js';
import { dieTogether, MAIN, withoutSettings } from '../support/service.js';

/** What a command that ends by itself took. */
export interface CommandCost {
  readonly seconds: number;
  /** Most bytes in memory among the samples. */
  readonly peak: number;
}

/** Runs a command of this build to its end; rejects when it fails. */
export async function runCommand(args: readonly string[]): Promise<CommandCost> {
  const started = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: withoutSettings(),
  });
  const release = dieTogether(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, memoryOf(child.pid!)?.peak ?? 0);
  }, 20);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(look);
  release();
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stderr}`);
  return { seconds: (performance.now() - started) / 1000, peak };
}
