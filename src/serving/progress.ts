import { createRequire } from 'node:module';
import type * as cliProgress from 'cli-progress';
import type { Progress } from '../formats/snapshot.js';

export interface ProgressOptions {
  /** Where the bar is drawn, if it is a terminal; standard error where absent. */
  readonly progressTo?: NodeJS.WriteStream | undefined;
  /** Aborted, it stops the work. */
  readonly signal?: AbortSignal | undefined;
}

export interface ProgressBar {
  /** Throws the reason of the signal, so that what is shown ends once it is aborted. */
  readonly update: Progress;
  /** Ends the bar and its timer; may be called more than once. */
  stop(): void;
}

/**
 * Starts a bar, on a terminal only. `action` names what is done, `show` writes an amount of it,
 * bytes by default.
 */
export function startProgress(
  action: string,
  { progressTo: stream = process.stderr, signal }: ProgressOptions = {},
  show: (amount: number) => string = megabytes,
): ProgressBar {
  if (!stream.isTTY) return { update: () => signal?.throwIfAborted(), stop: () => {} };
  // loaded only for a terminal
  const { SingleBar } = createRequire(import.meta.url)('cli-progress') as typeof cliProgress;
  const bar = new SingleBar({
    stream,
    format: `${action} {bar} {percentage} % | {read} of {size} | {rate} | {eta_formatted} left`,
    barCompleteChar: '#',
    barIncompleteChar: '-',
    barsize: 30,
    clearOnComplete: true,
  });
  const started = performance.now();
  return {
    update(done, total) {
      signal?.throwIfAborted();
      const seconds = Math.max(performance.now() - started, 1) / 1000;
      const tokens = {
        read: show(done),
        size: show(total),
        rate: `${show(Math.round(done / seconds))}/s`,
      };
      if (bar.isActive) bar.update(done, tokens);
      else bar.start(total, done, tokens);
    },
    stop: () => bar.stop(),
  };
}

/** Bytes for people: `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A whole number for people: `1,234,567`. */
export function whole(value: number): string {
  return value.toLocaleString('en-US');
}

export function countPoints(amount: number): string {
  return counted(Math.floor(amount), 'point');
}

/** `1 point`, `2 points`. */
export function counted(value: number, noun: string): string {
  return `${whole(value)} ${noun}${value === 1 ? '' : 's'}`;
}
