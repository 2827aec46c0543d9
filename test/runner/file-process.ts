import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { closeAll } from '../support/folder.js';
import { END_MARK, EXIT, exitOnSignals, type FileOrder, type FileResult } from './protocol.js';

/** A queued suite of uvu; `errors` is true when all passed. */
type Queued = () => Promise<[errors: string | true, passed: number, skipped: number, all: number]>;

/** uvu's globals: while `UVU_DEFER` is set, `run()` only adds to the queue. */
const uvu = globalThis as unknown as { UVU_DEFER: number; UVU_QUEUE: (Queued | null)[][] };

const LOOK_MS = 5;
const CLOCK_TICKS = 100;
/** Time for this process to exit by itself once the runner has ended. */
const ORPHANED_MS = 2_000;
/**
 * Run by a thread beside the tests: a file that spins never hears that the runner is gone.
 * A process whose parent has ended gets another parent.
 */
const WATCH_RUNNER = `
  const { workerData: runner } = require('node:worker_threads');
  setInterval(() => {
    if (process.ppid === runner) return;
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ORPHANED_MS});
  }, 500);`;

/** Runs the tests of a compiled file in this process; failures are printed to standard output. */
async function runFile({ path, closingMs }: FileOrder): Promise<FileResult> {
  const resources = activeResources();
  const cpu = cpuSeconds();
  const queue: (Queued | null)[] = [null];
  uvu.UVU_QUEUE = [queue];
  let [passed, failed, skipped, all] = [0, 0, 0, 0];
  try {
    await import(pathToFileURL(path).href);
    for (const run of queue) {
      if (run === null) continue;
      const [errors, ...counts] = await run();
      passed += counts[0];
      skipped += counts[1];
      all += counts[2];
      if (errors !== true) console.log(errors);
    }
    failed = all - passed;
    await closeAll();
    if (all + skipped === 0) throw new Error('no test ran: is test.run() missing?');
    const left = await leftResources(resources, closingMs);
    if (left.length > 0) throw new Error(`not closed after the last test: ${left.join(', ')}`);
  } catch (error) {
    failed = Math.max(failed, 1);
    console.log(error);
  }
  const memory = process.memoryUsage.rss();
  return { passed, failed, skipped, cpuSeconds: cpuSeconds() - cpu, memory };
}

/** The handles that keep the process alive, counted by kind. */
function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Waits until no more handles are open than `before`; returns the kinds that stay open. */
async function leftResources(before: Map<string, number>, closingMs: number): Promise<string[]> {
  const deadline = performance.now() + closingMs;
  for (;;) {
    const left = [...activeResources()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    if (left.length === 0 || performance.now() > deadline) return left.map(([kind]) => kind);
    await delay(LOOK_MS);
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

function childSeconds(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[13]) + Number(fields[14])) / CLOCK_TICKS;
  } catch {
    return 0;
  }
}

uvu.UVU_DEFER = 1;
// opens the streams now, so that no file is blamed for their handles
for (const stream of [process.stdout, process.stderr]) stream.write('');
// each file adds listeners of its own
process.setMaxListeners(0);
exitOnSignals();
process.on('disconnect', () => process.exit());
new Worker(WATCH_RUNNER, { eval: true, workerData: process.ppid }).unref();
process.on('message', async (order: FileOrder | typeof EXIT) => {
  if (order === EXIT) process.exit();
  const result = await runFile(order);
  process.stdout.write(END_MARK);
  process.stderr.write(END_MARK);
  process.send!(result);
});
