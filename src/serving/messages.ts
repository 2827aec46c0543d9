import type { ProcessStatus } from '../live/service.js';

/** The metrics of one process, as they travel. */
export type MetricsJson = readonly unknown[];

/** The environment variable in which a worker process is told how many points the others serve. */
export const PEER_POINTS = 'WAYPOST_PEER_POINTS';

/** What a worker process says to the primary. `id` ties an answer to its question. */
export type FromWorker =
  | { readonly kind: 'want-build'; readonly id: number }
  | { readonly kind: 'built' }
  | { readonly kind: 'status'; readonly status: ProcessStatus }
  | {
      readonly kind: 'serving';
      readonly points: number;
      readonly loadMs: number;
      readonly address: string;
    }
  | { readonly kind: 'want-reload'; readonly id: number; readonly accept: boolean }
  | { readonly kind: 'looked'; readonly id: number }
  | { readonly kind: 'want-metrics'; readonly id: number }
  | { readonly kind: 'own-metrics'; readonly id: number; readonly metrics: MetricsJson };

/** What the primary says to a worker process. */
export type FromPrimary =
  | { readonly kind: 'may-build'; readonly id: number }
  | { readonly kind: 'statuses'; readonly statuses: readonly ProcessStatus[] }
  | { readonly kind: 'look'; readonly id: number; readonly accept: boolean }
  | { readonly kind: 'reloaded'; readonly id: number }
  | { readonly kind: 'give-metrics'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'close' };
