import type { Current } from './generation.js';
import type { Stale } from './reload/reload.js';

/** The running service as its operators see it, from whichever thread. */
export interface Service {
  readonly current: Current;
  readonly stale: Stale | undefined;
  /** Looks for a new snapshot; `accept` takes one that shrank. Resolves when it is served, or will not be. */
  reload(accept: boolean): Promise<void>;
  /** All metrics of all threads, in Prometheus's text format. */
  metrics(): Promise<string>;
}
