import { openLoop, type Post } from '../generators/open.js';
import type { Round } from '../generators/types.js';
import { LIST, type Places } from '../places.js';
import { POST_BODY } from '../post/posting.js';
import { requestPaths, scenarioOf } from '../scenarios.js';

/** How ordinary clients fared; what was refused or failed has no latency. */
export type Ordinary = Pick<Round, 'latencies' | 'errors'>;

interface OrdinaryLoad {
  readonly base: string;
  readonly clients: number;
  /** Requests a second of each client. */
  readonly rate: number;
  /** Paths that the clients take in turn. */
  readonly paths: readonly string[];
  readonly seconds: number;
  /** Every `postEvery`th request is a post; without a value none is. */
  readonly postEvery?: number | undefined;
}

/** What ordinary clients ask for, in equal parts. */
const ORDINARY_SCENARIOS = ['small-box', 'nearby', 'hot'] as const;
const TIMEOUT_MS = 5_000;

/** Paths of all kinds in turn; the same seed and data give the same paths. */
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
 * Asks at a steady rate, over one connection a client. Posts come from many addresses, as a proxy
 * reports them, so that the limit of an address refuses none.
 */
export async function askOrdinarily(load: OrdinaryLoad): Promise<Ordinary> {
  const { base, clients, rate, paths, seconds, postEvery = Number.POSITIVE_INFINITY } = load;
  const requests = Array.from({ length: Math.ceil(clients * rate * seconds) }, (_, turn) =>
    turn % postEvery === postEvery - 1 ? postOf(turn) : paths[turn % paths.length]!,
  );
  return openLoop({
    ...{ base, paths: requests, seconds, warmupSeconds: 0 },
    ...{ connections: clients, rate: clients * rate, timeout: TIMEOUT_MS },
  });
}

function postOf(person: number): Post {
  const address = `10.0.${(person >> 8) & 255}.${person & 255}`;
  return { path: LIST, body: POST_BODY, headers: { 'X-Forwarded-For': address } };
}
