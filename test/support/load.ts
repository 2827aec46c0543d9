import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, type Envelope, LIST, type NoAnswer, type Reply } from './client.js';
import { countOf } from './marked.js';
import { until } from './wait.js';

/** The order to a load process, as JSON in its first argument. */
interface LoadOrder {
  readonly port: number;
  readonly connections: number;
  /** Whether each request opens a connection. */
  readonly fresh: boolean;
  /** Whether the answers of a marked snapshot are checked. */
  readonly marked: boolean;
  /** Milliseconds between an answer and its connection's next request; 0 when absent. */
  readonly pauseMs?: number;
  /** Whether a request that gets no answer before a close is sent again once, as browsers do. */
  readonly again?: boolean;
  /** Milliseconds without a byte after which an answer counts as missing. */
  readonly patienceMs?: number;
}

/** What a load process found; sent ten times a second and at its end. */
export interface LoadResult {
  readonly answered: number;
  /** Number of answers by the mark of their snapshot. */
  readonly marks: Readonly<Record<string, number>>;
  /** Answers that were wrong, broke off, or never came over a connection used before. */
  readonly failures: readonly string[];
  readonly failed: number;
  readonly refused: number;
  /** New connections that were reset before any answer: the service had not accepted them. */
  readonly dropped: number;
}

/** A process that sends requests. */
export interface Load {
  readonly result: LoadResult;
  /** Lets open requests finish; resolves with the final result. */
  end(): Promise<LoadResult>;
}

const NONE = { answered: 0, failed: 0, refused: 0, dropped: 0 };

/** Starts load that ends with this process; resolves once answers come. */
export async function startLoad(order: LoadOrder): Promise<Load> {
  const child = fork(import.meta.filename, [JSON.stringify(order)]);
  let result: LoadResult = { ...NONE, marks: {}, failures: [] };
  child.on('message', (message) => {
    result = message as LoadResult;
  });
  const closed = once(child, 'close');
  // a failing test must not wait for the child
  child.unref();
  child.channel?.unref();
  await until('the load begins', () => result.answered > 0, order.patienceMs);
  return {
    get result() {
      return result;
    },
    async end() {
      child.ref();
      child.send('end');
      await closed;
      return result;
    },
  };
}

// the rest runs in the child and sends the requests

const PAUSE_AFTER_FAILURE_MS = 50;
const REPORT_MS = 100;
const MAX_FAILURES = 20;

/** Queries that show a snapshot's count, order and ends; `n` keeps answers out of the cache. */
const SHAPES: readonly ((n: number) => string)[] = [
  () => '?page_size=20',
  (n) => `?page_size=50&page=${2 + (n % 30)}`,
  () => '?page=last',
  (n) => `?bbox=-180,-90,180,${85 + (n % 5000) / 1000}&page_size=100`,
  (n) => `?coordinates=${(n % 60) - 30},${(n % 300) - 150},30000000&page_size=100`,
  (n) => `?ordering=-created_at&page_size=${10 + (n % 90)}`,
  (n) => `?bbox=-180,-90,180,90&ordering=modified_at&page=${1 + (n % 5)}&page_size=300`,
  () => '?page_size=1000',
];

async function main(order: LoadOrder): Promise<void> {
  const { port, connections, fresh, marked, pauseMs = 0, again = false } = order;
  const { patienceMs = 15_000 } = order;
  const marks: Record<string, number> = {};
  const etags = new Map<string, number>();
  const failures: string[] = [];
  let [answered, failed, refused, dropped, sent] = [0, 0, 0, 0, 0];
  let isEnding = false;

  const fail = (what: string): void => {
    failed++;
    if (failures.length < MAX_FAILURES) failures.push(what);
  };
  const check = (path: string, { status, headers, text }: Reply): void => {
    answered++;
    if (status !== 200) fail(`${path}: ${status} ${text.slice(0, 200)}`);
    if (!marked || status !== 200) return;
    const { count, results } = JSON.parse(text) as Envelope & { results: { comment: string }[] };
    const mark = Number(results[0]?.comment.slice('mark '.length));
    marks[mark] = (marks[mark] ?? 0) + 1;
    if (results.some(({ comment }) => comment !== `mark ${mark}`)) fail(`${path}: mixed records`);
    if (count !== countOf(mark)) fail(`${path}: ${count} points beside records of ${mark}`);
    const etag = `${headers.etag}`;
    const named = etags.get(etag) ?? mark;
    etags.set(etag, named);
    if (named !== mark) fail(`${path}: ${etag} stood for ${named}, then for ${mark}`);
  };
  const work = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: !fresh, maxSockets: 1 });
    let isRepeated = false;
    while (!isEnding) {
      const n = sent++;
      const path = LIST + SHAPES[n % SHAPES.length]!(n);
      try {
        check(path, await ask(port, path, { agent, patienceMs }));
        isRepeated = false;
        if (pauseMs > 0) await delay(pauseMs);
      } catch (error) {
        const { code, message, isReused, hasBegun } = error as NoAnswer;
        const isClosed = !hasBegun && (code === 'ECONNRESET' || code === 'EPIPE');
        isRepeated = again && isClosed && !isRepeated;
        if (isRepeated) continue;
        if (code === 'ECONNREFUSED') refused++;
        else if (!isReused && isClosed) dropped++;
        else fail(message);
        await delay(PAUSE_AFTER_FAILURE_MS);
      }
    }
    agent.destroy();
  };
  const report = (): void => {
    process.send?.({ answered, marks, failures, failed, refused, dropped } satisfies LoadResult);
  };
  const timer = setInterval(report, REPORT_MS);
  process.once('message', () => {
    isEnding = true;
  });
  process.once('disconnect', () => process.exit(1));
  await Promise.all(Array.from({ length: connections }, work));
  clearInterval(timer);
  report();
  process.removeAllListeners('disconnect');
  process.disconnect();
}

if (process.argv[1] === import.meta.filename) {
  await main(JSON.parse(process.argv[2]!) as LoadOrder);
}
