import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { count } from '../generators/types.js';
import { LIST, type Places } from '../places.js';
import { POST_BODY } from '../post/table.js';
import { requestPaths, scenarioOf } from '../scenarios.js';
import { type Latencies, LatencyHistogram } from '../support/histogram.js';

/** How ordinary clients fared. */
export interface Ordinary {
  readonly latencies: Latencies;
  /** What was refused or failed, by kind. */
  readonly errors: Readonly<Record<string, number>>;
}

/** Ordinary clients and what they ask for. */
export interface OrdinaryLoad {
  readonly base: string;
  readonly clients: number;
  /** Requests a second of each. */
  readonly rate: number;
  /** Paths that the clients take in turn. */
  readonly paths: readonly string[];
  readonly seconds: number;
  /** One request in so many is a post; none without. */
  readonly postEvery?: number | undefined;
}

/**
 * What ordinary clients ask for: small boxes, the nearest, one URL again and again, in equal parts.
 */
const ORDINARY_SCENARIOS = ['small-box', 'nearby', 'hot'] as const;
/** An ordinary client gives up after this time. */
const TIMEOUT_MS = 5_000;

/** Requests of ordinary clients, all kinds in turn; the same seed and data give the same. */
export function ordinaryPaths(places: Places, count: number, seed: number): string[] {
  const kinds = ORDINARY_SCENARIOS.map((name) =>
    requestPaths(scenarioOf(name), places, count, seed),
  );
  return Array.from({ length: count }, (_, i) => {
    const kind = kinds[i % kinds.length]!;
    return kind[i % kind.length]!;
  });
}

/**
 * Clients that each send at a steady rate over a connection of their own. A request that is due
 * while the client still waits counts from when it was due, sent or not: a service that stalls
 * cannot hide what it kept from being asked.
 */
export async function askOrdinarily(load: OrdinaryLoad): Promise<Ordinary> {
  const { base, clients, rate, paths, seconds, postEvery = Number.POSITIVE_INFINITY } = load;
  const { hostname, port } = new URL(base);
  const histogram = new LatencyHistogram();
  const errors: Record<string, number> = {};
  const interval = 1000 / rate;
  const began = performance.now();
  const end = began + seconds * 1000;
  let turn = 0;

  const client = async (_: unknown, index: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let wasLate = false;
    for (let due = began + (index / clients) * interval; due < end; due += interval) {
      const wait = due - performance.now();
      if (wait > 0) await delay(wait);
      // a timer that fires a little late is no fault of the service
      const from = wasLate ? due : performance.now();
      if (performance.now() < end) {
        const isPost = turn % postEvery === postEvery - 1;
        const path = isPost ? LIST : paths[turn % paths.length]!;
        turn++;
        const kind = await ask({ hostname, port, path, agent, ...(isPost && postOf(turn)) });
        // a refusal that comes quickly is no quick answer
        if (kind === undefined) histogram.record(performance.now() - from);
        else count(errors, kind);
      } else {
        histogram.record(performance.now() - from);
      }
      wasLate = performance.now() > due + interval;
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { latencies: histogram.summary(), errors };
}

interface Asked {
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly agent: Agent;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A post of one of so many people, each of whom has an address of its own behind the proxy. */
function postOf(person: number): Pick<Asked, 'method' | 'headers' | 'body'> {
  const address = `10.0.${(person >> 8) & 255}.${person & 255}`;
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address };
  return { method: 'POST', headers, body: POST_BODY };
}

/** Sends one request and reads its answer; resolves with what went wrong. */
function ask(asked: Asked): Promise<string | undefined> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      resolve(error.code ?? error.message);
    };
    const one = request(asked, (response) => {
      response.resume();
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        const { statusCode } = response;
        const isDone = statusCode === 200 || statusCode === 201;
        resolve(isDone ? undefined : `status ${statusCode}`);
      });
    });
    const timer = setTimeout(() => {
      one.destroy(Object.assign(new Error('timeout'), { code: 'timeout' }));
    }, TIMEOUT_MS);
    one.on('error', fail);
    one.end(asked.body);
  });
}
