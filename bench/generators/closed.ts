import autocannon from 'autocannon';
import { LatencyHistogram } from '../support/histogram.js';
import { treeCpuSeconds } from '../support/proc.js';
import { Errors, type Load, makeRound, type Round } from './types.js';

/** Seconds after which autocannon gives a request up. */
const TIMEOUT = 30;

/**
 * Closed loop with autocannon: each connection sends its next request when it has the answer to the
 * last. Shows how much a server can do; its latencies leave out what waiting clients would have
 * seen.
 */
export async function closedLoop(load: Load): Promise<Round> {
  const { base, connections, warmupSeconds, seconds, pid } = load;
  const slices = share(load.paths, connections);
  let next = 0;
  const options: autocannon.Options = {
    url: base,
    connections,
    // ended by hand: autocannon's own clock ticks once a second
    duration: 86_400,
    timeout: TIMEOUT,
    setupClient: (client) => {
      client.setRequests(slices[next++ % slices.length]!.map((path) => ({ path, method: 'GET' })));
    },
  };
  let over: (problem?: Error) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    over = (problem) => (problem ? reject(problem) : resolve());
  });
  const instance = autocannon(options, (problem: Error | null) => over(problem ?? undefined));
  const histogram = new LatencyHistogram();
  const errors = new Errors();
  let bytes = 0;
  let isMeasuring = false;
  instance.on('response', (_client, status, size, milliseconds) => {
    if (!isMeasuring) return;
    histogram.record(milliseconds);
    bytes += size;
    if (status < 200 || status > 299) errors.add(`status ${status}`);
  });
  instance.on('reqError', (error: { code?: string; message?: string }) => {
    if (isMeasuring) errors.add(error.code ?? error.message ?? 'unknown');
  });

  await pause(warmupSeconds);
  const own = process.cpuUsage();
  const server = pid === undefined ? undefined : treeCpuSeconds(pid);
  const started = performance.now();
  isMeasuring = true;
  await pause(seconds);
  isMeasuring = false;
  const elapsed = (performance.now() - started) / 1000;
  const used = process.cpuUsage(own);
  const serverEnd = server === undefined ? undefined : treeCpuSeconds(pid!);
  instance.stop();
  await ended;
  return makeRound(
    {
      seconds: elapsed,
      requests: histogram.count,
      bytes,
      latencies: histogram.summary(),
      errors: errors.counts,
    },
    (used.user + used.system) / 1e6,
    serverEnd === undefined ? undefined : serverEnd - server!,
  );
}

/** Deals paths out to connections, so that together they send each once before any again. */
function share(paths: readonly string[], connections: number): string[][] {
  const slices: string[][] = Array.from({ length: connections }, () => []);
  const length = Math.max(paths.length, connections);
  for (let i = 0; i < length; i++) slices[i % connections]!.push(paths[i % paths.length]!);
  return slices;
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
