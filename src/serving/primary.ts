import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import type { ProcessStatus } from '../live/service.js';
import { hangUpAfter } from './handover.js';
import { type FromPrimary, type FromWorker, type MetricsJson, PEER_POINTS } from './messages.js';
import { createSurvey } from './survey.js';

/** A process that dies sooner than this is replaced after a pause, which doubles each time. */
const SHORT_LIFE_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** What a process may take to end beyond what its requests may: then it hangs, and is killed. */
const GRACE_MS = 2_000;
/** A reload takes each process its turn to build; numbers that come late are of no use. */
const LOOK_PATIENCE_MS = 60_000;
const METRICS_PATIENCE_MS = 3_000;

/** The processes that serve, seen from the one that holds them together. */
export interface Cluster {
  /** Has all look for a new snapshot. */
  look(accept: boolean): Promise<void>;
  /** Ends all, each after what it has under way. */
  close(): Promise<void>;
}

/**
 * Starts `size` worker processes and replaces those that die. Resolves once all serve; undefined when the
 * first ended before it served, having said why. Closing takes little longer than `shutdownMs`.
 */
export async function startCluster(
  size: number,
  shutdownMs: number,
  logger: Logger,
): Promise<Cluster | undefined> {
  const statuses = new Map<number, ProcessStatus>();
  const turns = createTurns();
  const survey = createSurvey(() => workers().filter((worker) => statuses.has(worker.id)));
  let isClosing = false;
  let hasBegun = false;
  let points = 0;
  let pause = FIRST_PAUSE_MS;

  const look = async (accept: boolean): Promise<void> => {
    await survey.ask((id) => ({ kind: 'look', id, accept }), LOOK_PATIENCE_MS);
  };

  cluster.on('message', async (worker: Worker, message: FromWorker) => {
    switch (message.kind) {
      case 'want-build':
        turns.want(worker, message.id);
        break;
      case 'built':
        turns.done(worker);
        break;
      case 'status':
        statuses.set(worker.id, message.status);
        points = message.status.points;
        shareStatuses();
        break;
      case 'want-reload':
        await look(message.accept);
        send(worker, { kind: 'reloaded', id: message.id });
        break;
      case 'want-metrics': {
        const question = (id: number): FromPrimary => ({ kind: 'give-metrics', id });
        const answers = await survey.ask(question, METRICS_PATIENCE_MS);
        send(worker, { kind: 'metrics', id: message.id, text: await joinMetrics(answers) });
        break;
      }
      case 'looked':
      case 'own-metrics':
        survey.answer(worker, message.id, message);
        break;
    }
  });

  cluster.on('fork', hangUpAfter);
  cluster.on('exit', (worker, code, signal) => {
    statuses.delete(worker.id);
    turns.done(worker);
    survey.leave(worker);
    shareStatuses();
    // one that could not begin has said why itself
    const hasSaid = !hasBegun && signal === null;
    if (!isClosing && !hasSaid)
      logger.error({ pid: worker.process.pid, code, signal }, 'process died');
  });

  function shareStatuses(): void {
    for (const worker of workers()) {
      send(worker, { kind: 'statuses', statuses: [...statuses.values()] });
    }
  }

  /** A new process must not take a snapshot that the others hold back. */
  function fork(): Worker {
    return cluster.fork({ [PEER_POINTS]: String(points) });
  }

  /** Keeps one process alive, whichever it is. */
  async function keepAlive(first: Worker): Promise<void> {
    for (let worker = first; ; worker = fork()) {
      const began = performance.now();
      await once(worker, 'exit');
      if (isClosing) return;
      pause = performance.now() - began < SHORT_LIFE_MS ? pause * 2 : FIRST_PAUSE_MS;
      await delay(Math.min(pause, LONGEST_PAUSE_MS));
      if (isClosing) return;
    }
  }

  const started = performance.now();
  const first = fork();
  const begun = await untilServing(first);
  if (begun === undefined) return undefined;
  hasBegun = true;
  void keepAlive(first);
  const others = Array.from({ length: size - 1 }, fork);
  for (const worker of others) void keepAlive(worker);
  await Promise.all(others.map(untilServing));
  const loadMs = Math.round(performance.now() - started);
  logger.info({ points: begun.points, loadMs, address: begun.address, workers: size }, 'serving');

  return {
    look,
    async close() {
      isClosing = true;
      const ends = workers().map((worker) => once(worker, 'exit'));
      for (const worker of workers()) send(worker, { kind: 'close' });
      const kill = setTimeout(() => {
        for (const worker of workers()) worker.process.kill('SIGKILL');
      }, shutdownMs + GRACE_MS);
      await Promise.all(ends);
      clearTimeout(kill);
    },
  };
}

type Serving = Extract<FromWorker, { kind: 'serving' }>;

/** What a process says once it serves; undefined when it ends first. */
async function untilServing(worker: Worker): Promise<Serving | undefined> {
  return new Promise((resolve) => {
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'serving') resolve(message);
    });
    worker.once('exit', () => resolve(undefined));
  });
}

/** Lets one process build at a time, in the order they ask. */
function createTurns(): {
  want(worker: Worker, id: number): void;
  done(worker: Worker): void;
} {
  const queue: { worker: Worker; id: number }[] = [];
  const grant = (): void => {
    const [next] = queue;
    if (next !== undefined) send(next.worker, { kind: 'may-build', id: next.id });
  };
  return {
    want(worker, id) {
      queue.push({ worker, id });
      if (queue.length === 1) grant();
    },
    done(worker) {
      // also when it died, building or waiting
      const isFirst = queue[0]?.worker === worker;
      const at = queue.findIndex((turn) => turn.worker === worker);
      if (at >= 0) queue.splice(at, 1);
      if (isFirst) grant();
    },
  };
}

async function joinMetrics(answers: readonly FromWorker[]): Promise<string> {
  const all: MetricsJson[] = [];
  for (const answer of answers) if (answer.kind === 'own-metrics') all.push(answer.metrics);
  return AggregatorRegistry.aggregate(all as unknown as object[]).metrics();
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function send(worker: Worker, message: FromPrimary): void {
  // one that has just died gets no more
  if (worker.isConnected()) worker.send(message, () => {});
}
