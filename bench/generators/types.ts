import type { Latencies } from '../support/histogram.js';

/** What a generator is asked for. */
export interface Load {
  /** Such as `http://127.0.0.1:8080`, without a path. */
  readonly base: string;
  /** Sent in turn, from the first again when they end. */
  readonly paths: readonly string[];
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** The server's process, when it runs on this machine: its CPU time is measured. */
  readonly pid?: number | readonly number[] | undefined;
}

/** One round of one scenario. */
export interface Round {
  readonly seconds: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly bytesPerRequest: number;
  readonly latencies: Latencies;
  /** How many of each kind: `status 404`, `timeout`, `ECONNRESET`, … */
  readonly errors: Readonly<Record<string, number>>;
  /** Cores that the generator kept busy: near 1 it is what limits the figures. */
  readonly generatorCores: number;
  /**
   * Cores and CPU microseconds a request of the server and its children; absent for a remote one.
   */
  readonly serverCores?: number;
  readonly serverMicros?: number;
}

/** Rounds of one scenario by one generator. */
export interface HttpResult {
  readonly scenario: string;
  readonly title: string;
  readonly generator: 'autocannon' | 'wrk' | 'open loop';
  readonly connections: number;
  /** Requests a second that were asked for, in an open loop. */
  readonly rate?: number;
  readonly rounds: readonly Round[];
}

/** From here on a generator with one thread is itself the bottleneck. */
export const BUSY_CORES = 0.9;

/** Counts what went wrong, by kind. */
export class Errors {
  readonly counts: Record<string, number> = {};

  add(kind: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
}

/** Puts a round together from what was counted and the CPU seconds used meanwhile. */
export function makeRound(
  measured: Pick<Round, 'seconds' | 'requests' | 'latencies' | 'errors'> & { bytes: number },
  generatorSeconds: number,
  serverSeconds: number | undefined,
): Round {
  const { bytes, ...kept } = measured;
  const { seconds, requests } = kept;
  const server =
    serverSeconds === undefined
      ? {}
      : {
          serverCores: serverSeconds / seconds,
          serverMicros: (serverSeconds * 1e6) / Math.max(1, requests),
        };
  return {
    ...kept,
    perSecond: requests / seconds,
    bytesPerRequest: bytes / Math.max(1, requests),
    generatorCores: generatorSeconds / seconds,
    ...server,
  };
}
