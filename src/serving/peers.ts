import type { Registry } from 'prom-client';
import type { ProcessStatus } from '../live/service.js';

/** How a process that serves deals with the others that do; alone it has only itself. */
export interface Peers {
  /** Points that the others serve, or last served, when this process begins; 0 for none. */
  readonly points: number;
  /** Runs a build when no other process builds. */
  inTurn<T>(build: () => Promise<T>): Promise<T>;
  /** Tells the others how this process stands. */
  publish(status: ProcessStatus): void;
  /** How all stand, given how this one does. */
  statuses(own: ProcessStatus): readonly ProcessStatus[];
  /** Has all look for a new snapshot, given how this one does. */
  reload(accept: boolean, own: (accept: boolean) => Promise<void>): Promise<void>;
  /** The metrics of all as text, given those of this one. */
  metrics(own: Registry): Promise<string>;
}

/** No other processes. */
export const ALONE: Peers = {
  points: 0,
  inTurn: (build) => build(),
  publish: () => {},
  statuses: (own) => [own],
  reload: (accept, own) => own(accept),
  metrics: (own) => own.metrics(),
};
