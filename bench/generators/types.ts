import { type Latencies, LatencyHistogram } from '../support/histogram.js';
import { treeCpuSeconds } from '../support/proc.js';
import { spreadOf } from '../support/stats.js';
import { digits } from '../support/table.js';

export interface Load {
  /** Such as `http://127.0.0.1:8080`, without a path. */
  readonly base: string;
  /** Sent in turn, from the first again when they end. */
  readonly paths: readonly string[];
  /** If set, `paths` holds bodies of JSON, which are posted to this path. */
  readonly postTo?: string | undefined;
  readonly connections: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** The server's process, when it runs on this machine: its CPU time is measured. */
  readonly pid?: number | readonly number[] | undefined;
}

export interface Round {
  readonly seconds: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly bytesPerRequest: number;
  readonly latencies: Latencies;
  /** How many of each kind: `status 404`, `timeout`, `ECONNRESET`, … */
  readonly errors: Readonly<Record<string, number>>;
  /** Cores that the generator kept busy: near 1, the generator limits the figures. */
  readonly generatorCores: number;
  /** CPU microseconds a request of the server and its children; absent for a remote one. */
  readonly serverMicros?: number;
}

/** Rounds of one scenario by one generator. */
export interface HttpResult {
  readonly scenario: string;
  readonly generator: 'closed loop' | 'wrk' | 'open loop';
  readonly connections: number;
  /** Requests a second that were asked for, in an open loop. */
  readonly rate?: number;
  readonly rounds: readonly Round[];
}

/** From here on a generator with one thread is itself the bottleneck. */
export const BUSY_CORES = 0.9;

export function count(counts: Record<string, number>, kind: string): void {
  counts[kind] = (counts[kind] ?? 0) + 1;
}

/** Counts the answers of a round and the CPU time that passes meanwhile. */
export class Recorder {
  readonly histogram: LatencyHistogram = new LatencyHistogram();
  readonly errors: Record<string, number> = {};
  bytes = 0;
  readonly #pid: Load['pid'];
  #began: { at: number; cpu: NodeJS.CpuUsage; server: number | undefined } | undefined;

  constructor(pid: Load['pid']) {
    this.#pid = pid;
  }

  /** Whether the measured part of the round has begun. */
  get isOn(): boolean {
    return this.#began !== undefined;
  }

  begin(): void {
    const server = this.#pid === undefined ? undefined : treeCpuSeconds(this.#pid);
    this.#began = { at: performance.now(), cpu: process.cpuUsage(), server };
  }

  end(): Round {
    const { at, cpu, server } = this.#began!;
    const { user, system } = process.cpuUsage(cpu);
    const measured = {
      seconds: (performance.now() - at) / 1000,
      requests: this.histogram.count,
      bytes: this.bytes,
      latencies: this.histogram.summary(),
      errors: this.errors,
    };
    const used = server === undefined ? undefined : treeCpuSeconds(this.#pid!)! - server;
    return makeRound(measured, (user + system) / 1e6, used);
  }
}

/** Makes a round of what was counted and the CPU seconds used meanwhile. */
export function makeRound(
  measured: Pick<Round, 'seconds' | 'requests' | 'latencies' | 'errors'> & { bytes: number },
  generatorSeconds: number,
  serverSeconds: number | undefined,
): Round {
  const { bytes, ...kept } = measured;
  const { seconds, requests } = kept;
  const server = serverSeconds !== undefined && {
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

/** The mean of a figure of several rounds, as text; a dash where no round has it. */
export function meanOf(
  rounds: readonly Round[],
  read: (round: Round) => number | undefined,
): string {
  const values = rounds.map(read).filter((value) => value !== undefined);
  return values.length === 0 ? '–' : digits(spreadOf(values).mean);
}
