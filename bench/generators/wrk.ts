import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Latencies, PERCENTILES } from '../support/histogram.js';
import { cpuSeconds, treeCpuSeconds } from '../support/proc.js';
import { dieTogether, temporaryFolder } from '../support/service.js';
import { closedLoop } from './closed.js';
import { type Load, makeRound, type Round } from './types.js';

/** Reads paths from a file beside it, sends them in turn, prints a line of JSON at the end. */
const SCRIPT = `
local requests = {}
local at = 0
local function ms(micros) return micros == micros and micros / 1000 or 0 end
function init(args)
  local post = args[3]
  for line in io.lines(args[1]) do
    requests[#requests + 1] = post
      and wrk.format("POST", post, { ["Content-Type"] = "application/json" }, line)
      or wrk.format("GET", line)
  end
  at = tonumber(args[2]) % #requests
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency, _)
  local e = summary.errors
  local parts = {}
  for _, p in ipairs({ ${PERCENTILES.join(', ')} }) do
    parts[#parts + 1] = string.format('"%s":%.3f', p, ms(latency:percentile(p)))
  end
  io.write(string.format(
    '\\nRESULT {"micros":%d,"requests":%d,"bytes":%d,"mean":%.4f,"max":%.4f,"percentiles":{%s},"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}\\n',
    summary.duration, summary.requests, summary.bytes, ms(latency.mean), ms(latency.max),
    table.concat(parts, ","), e.connect, e.read, e.write, e.timeout, e.status))
end
`;

interface WrkResult extends Omit<Latencies, 'count'> {
  readonly micros: number;
  readonly requests: number;
  readonly bytes: number;
  readonly errors: Readonly<Record<string, number>>;
}

/** Whether wrk is installed: it needs less than half the CPU of a generator in JavaScript. */
export function hasWrk(): boolean {
  // wrk prints its version and fails; a missing program has no status at all
  return spawnSync('wrk', ['-v'], { stdio: 'ignore' }).status !== null;
}

/** Closed loop by wrk where it is installed, else by Node's sockets. */
export function fullLoop(load: Load): Promise<Round> {
  return hasWrk() ? wrkLoop(load) : closedLoop(load);
}

/**
 * Seconds of full load until a service is as fast as it will be: V8 compiles what is used while it
 * answers, and in the first six the requests a second of a small box grow from 9,000 to 24,000.
 */
const WARMUP_SECONDS = 6;

/** Loads a service until its code is compiled; a smoke test measures nothing. */
export async function warmUp(
  base: string,
  paths: readonly string[],
  smoke: boolean,
): Promise<void> {
  if (smoke) return;
  await fullLoop({ base, paths, connections: 32, warmupSeconds: 0, seconds: WARMUP_SECONDS });
}

let turn = 0;
let files: string | undefined;

/** Closed loop with wrk, one thread, with the same requests as {@link closedLoop} sends. */
async function wrkLoop(load: Load): Promise<Round> {
  files ??= temporaryFolder('wrk');
  // several runs at once must not share files
  const [script, paths] = ['lua', 'txt'].map((ending) => join(files!, `${turn}.${ending}`)) as [
    string,
    string,
  ];
  writeFileSync(script, SCRIPT);
  writeFileSync(paths, load.paths.join('\n'));
  // each run begins elsewhere in the list, so that a short list is not always cut at one place
  const begin = turn++ * 4999;
  const args = (seconds: number, from: number): string[] => {
    const duration = String(Math.max(1, Math.round(seconds)));
    const head = ['-t1', `-c${load.connections}`, `-d${duration}s`, '--timeout', '30s'];
    const post = load.postTo === undefined ? [] : [load.postTo];
    return [...head, '-s', script, load.base, '--', paths, String(from), ...post];
  };
  if (load.warmupSeconds > 0) await measure(args(load.warmupSeconds, begin), load.pid);
  // half a step on, away from the paths of the warm-up
  return measure(args(load.seconds, begin + 2500), load.pid);
}

async function measure(args: readonly string[], pid: Load['pid']): Promise<Round> {
  const server = pid === undefined ? undefined : treeCpuSeconds(pid);
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  // the CPU time of a process is lost once the process ends: the last reading is kept
  let used = 0;
  const look = setInterval(() => {
    used = cpuSeconds(child.pid!) ?? used;
  }, 50);
  await dieTogether(child);
  clearInterval(look);
  const serverEnd = server === undefined ? undefined : treeCpuSeconds(pid!);
  const found = /^RESULT (.+)$/m.exec(output)?.[1];
  if (found === undefined) throw new Error(`wrk gave no result: ${output}`);
  const { micros, requests, bytes, errors, ...latencies } = JSON.parse(found) as WrkResult;
  const happened = Object.entries(errors).filter(([, count]) => count > 0);
  return makeRound(
    {
      seconds: micros / 1e6,
      requests,
      bytes,
      latencies: { count: requests, ...latencies },
      errors: Object.fromEntries(happened),
    },
    used,
    serverEnd === undefined ? undefined : serverEnd - server!,
  );
}
