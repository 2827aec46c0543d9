import { Agent, request } from 'node:http';
import { LatencyHistogram } from '../support/histogram.js';
import { count, type Load, Recorder, type Round } from './types.js';

/** Milliseconds. */
const TIMEOUT = 30_000;
const JSON_HEADERS = { 'Content-Type': 'application/json' };

export interface Post {
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OpenLoad extends Omit<Load, 'paths'> {
  /** Paths to get and posts, sent in turn. */
  readonly paths: readonly (string | Post)[];
  /** Requests a second, evenly spaced. */
  readonly rate: number;
  /** Milliseconds that a request may take. */
  readonly timeout?: number;
  /** Ends the run before its time. */
  readonly signal?: AbortSignal;
}

export interface OpenRound extends Round {
  readonly rate: number;
  /** How late the generator itself sent, in milliseconds; its 99th percentile. */
  readonly lateness: number;
}

/**
 * Open loop: requests leave at a fixed rate whether or not answers come, as from independent
 * clients. Where all connections are busy a request waits for one, and its latency counts from when
 * it was due: a server that stalls cannot hide it (coordinated omission).
 */
export async function openLoop(load: OpenLoad): Promise<OpenRound> {
  const { base, paths, connections, rate, warmupSeconds, seconds, pid, signal } = load;
  const { timeout = TIMEOUT } = load;
  const { hostname, port } = new URL(base);
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'lifo' });
  const recorder = new Recorder(pid);
  const lateness = new LatencyHistogram();
  const waiting: number[] = [];
  const total = Math.round(rate * (warmupSeconds + seconds));
  const started = performance.now();
  const measuredFrom = started + warmupSeconds * 1000;
  let active = 0;
  let sent = 0;

  function finish(from: number, due: number, kind?: string): void {
    active--;
    const now = performance.now();
    if (due >= measuredFrom) {
      // a refusal has no latency: it would look like a quick answer
      if (kind === undefined) recorder.histogram.record(now - from);
      else count(recorder.errors, kind);
    }
    const next = waiting.shift();
    // the request was due while every connection was taken: its wait counts
    if (next !== undefined) send(next, next);
  }

  function send(due: number, from: number): void {
    active++;
    const next = paths[sent++ % paths.length]!;
    const { path, body, headers }: Partial<Post> = typeof next === 'string' ? { path: next } : next;
    let isOver = false;
    const end = (kind?: string): void => {
      if (isOver) return;
      isOver = true;
      finish(from, due, kind);
    };
    const asked = { hostname, port, path, agent, timeout };
    const posted = body && { method: 'POST', headers: { ...JSON_HEADERS, ...headers } };
    const one = request({ ...asked, ...posted }, (response) => {
      response.on('data', (chunk: Buffer) => {
        if (due >= measuredFrom) recorder.bytes += chunk.length;
      });
      response.on('end', () => {
        const status = response.statusCode!;
        end(status >= 200 && status <= 299 ? undefined : `status ${status}`);
      });
      response.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    });
    one.on('timeout', () => one.destroy(Object.assign(new Error('timeout'), { code: 'timeout' })));
    one.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    one.end(body);
  }

  await new Promise<void>((resolve) => {
    let issued = 0;
    const tick = (): void => {
      const now = performance.now();
      if (!recorder.isOn && now >= measuredFrom) recorder.begin();
      if (signal?.aborted) {
        issued = total;
        waiting.length = 0;
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
      if (issued === total && active === 0) resolve();
      else setTimeout(tick, 1);
    };
    tick();
  });
  const round = recorder.end();
  agent.destroy();
  return { ...round, rate, lateness: lateness.percentile(99) };
}
