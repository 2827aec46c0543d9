import type { Current } from './generation.js';
import type { Stale } from './reload.js';

/** What a process says of itself; in a cluster, what each tells the others. */
export interface ProcessStatus {
  readonly pid: number;
  readonly points: number;
  /** Names the generation that is served. */
  readonly tag: string;
  /** Milliseconds since the epoch. */
  readonly exportedAt: number;
  readonly loadedAt: number;
  readonly stale: Stale | undefined;
}

/** The running service as its operators see it, be it one process or many. */
export interface Service {
  readonly current: Current;
  readonly stale: Stale | undefined;
  /** Of every process that serves. */
  statuses(): readonly ProcessStatus[];
  /** Looks for a new snapshot, everywhere; `accept` takes one that shrank. Resolves when all have looked. */
  reload(accept: boolean): Promise<void>;
  /** All metrics of all processes, in Prometheus's text format. */
  metrics(): Promise<string>;
}

/** This process's status. */
export function statusOf(current: Current, stale: Stale | undefined): ProcessStatus {
  const { count, tag, exportedAt, loadedAt } = current.generation;
  return { pid: process.pid, points: count, tag, exportedAt, loadedAt, stale };
}
