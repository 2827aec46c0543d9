import { Agent, request } from 'node:http';
import { LatencyHistogram } from '../support/histogram.js';
import { treeCpuSeconds } from '../support/proc.js';
import { Errors, type Load, makeRound, type Round } from './types.js';

/** A request gets this long, in milliseconds. */
const TIMEOUT = 30_000;

/** One answer of an open loop. */
export interface Sample {
  /** When the request was due, in milliseconds since the measured part began. */
  readonly due: number;
  readonly milliseconds: number;
  readonly isError: boolean;
}

export interface OpenLoad extends Load {
  /** Requests a second, evenly spaced. */
  readonly rate: number;
  /** Hears of every measured answer. */
  readonly onSample?: (sample: Sample) => void;
  /** Ends the run before its time. */
  readonly signal?: AbortSignal;
}

export interface OpenRound extends Round {
  readonly rate: number;
  /** How late the generator itself sent, in milliseconds; its 99th percentile. */
  readonly lateness: number;
}

/**
 * Open loop: requests leave at a fixed rate whether or not answers come, as from clients that do
 * not know of each other. Where all connections are busy a request waits for one, and its latency
 * counts from when it was due: a server that stalls cannot hide the requests it kept from being
 * sent.
 */
export async function openLoop(load: OpenLoad): Promise<OpenRound> {
  const { base, paths, connections, rate, warmupSeconds, seconds, pid, onSample, signal } = load;
  const { hostname, port } = new URL(base);
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'lifo' });
  const histogram = new LatencyHistogram();
  const lateness = new LatencyHistogram();
  const errors = new Errors();
  const waiting: number[] = [];
  const total = Math.round(rate * (warmupSeconds + seconds));
  const started = performance.now();
  const measuredFrom = started + warmupSeconds * 1000;
  let begun: { cpu: NodeJS.CpuUsage; server: number | undefined } | undefined;
  let active = 0;
  let sent = 0;
  let bytes = 0;

  function finish(from: number, due: number, kind?: string): void {
    active--;
    const now = performance.now();
    if (due >= measuredFrom) {
      const milliseconds = now - from;
      histogram.record(milliseconds);
      if (kind !== undefined) errors.add(kind);
      onSample?.({ due: due - measuredFrom, milliseconds, isError: kind !== undefined });
    }
    const next = waiting.shift();
    // the request was due while every connection was taken: its wait counts
    if (next !== undefined) send(next, next);
  }

  function send(due: number, from: number): void {
    active++;
    const path = paths[sent++ % paths.length]!;
    let isOver = false;
    const end = (kind?: string): void => {
      if (isOver) return;
      isOver = true;
      finish(from, due, kind);
    };
    const one = request({ hostname, port, path, agent, timeout: TIMEOUT }, (response) => {
      response.on('data', (chunk: Buffer) => {
        if (due >= measuredFrom) bytes += chunk.length;
      });
      response.on('end', () => {
        const status = response.statusCode!;
        end(status >= 200 && status <= 299 ? undefined : `status ${status}`);
      });
      response.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    });
    one.on('timeout', () => one.destroy(Object.assign(new Error('timeout'), { code: 'timeout' })));
    one.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    one.end();
  }

  await new Promise<void>((resolve) => {
    let issued = 0;
    const tick = (): void => {
      const now = performance.now();
      if (begun === undefined && now >= measuredFrom) {
        begun = { cpu: process.cpuUsage(), server: pid && treeCpuSeconds(pid) };
      }
      while (issued < total) {
        const due = started + (issued * 1000) / rate;
        if (due > now) break;
        issued++;
        if (due >= measuredFrom) lateness.record(now - due);
        // a timer that fires late is no fault of the server
        if (active < connections) send(due, performance.now());
        else waiting.push(due);
      }
      if (signal?.aborted) waiting.length = 0;
      if ((issued === total || signal?.aborted) && active === 0) resolve();
      else setTimeout(tick, 1);
    };
    tick();
  });
  const elapsed = (performance.now() - measuredFrom) / 1000;
  const used = process.cpuUsage(begun?.cpu);
  const serverEnd = begun?.server === undefined ? undefined : treeCpuSeconds(pid!);
  agent.destroy();
  const round = makeRound(
    {
      seconds: elapsed,
      requests: histogram.count,
      bytes,
      latencies: histogram.summary(),
      errors: errors.counts,
    },
    (used.user + used.system) / 1e6,
    serverEnd === undefined ? undefined : serverEnd - begun!.server!,
  );
  return { ...round, rate, lateness: lateness.percentile(99) };
}
