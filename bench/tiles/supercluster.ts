import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Address } from './cases.js';
import type { Contender } from './contender.js';

/** Heap of the thread that has supercluster: ten million points need more than Node gives. */
const HEAP_MIB = 10_000;

/** What the thread is asked for; it answers one question after the other. */
export type Question =
  /** Seconds until there is an index for so many filters. */
  | { readonly ask: 'prepare'; readonly filters: number }
  /** The bytes of a tile. */
  | { readonly ask: 'tile'; readonly address: Address }
  /** Microseconds of a tile, the mean of `leastMs`. */
  | { readonly ask: 'turn'; readonly tiles: readonly Address[]; readonly leastMs: number };

/** What the thread starts with. */
export interface ThreadData {
  readonly ndjson: string;
  readonly points: number;
}

/** Supercluster, and how long it took to make its index for each filter set. */
export interface Superclusters extends Contender {
  /** Seconds, by the number of filters; from points in memory to an index. */
  readonly rebuilt: ReadonlyMap<number, number>;
}

/**
 * Tiles from supercluster, in a thread whose heap is large enough. The thread takes the time of its
 * turns: its answers to single questions would be slower than its tiles.
 */
export async function startSupercluster(data: ThreadData): Promise<Superclusters> {
  const thread = new Worker(new URL('./supercluster-thread.js', import.meta.url), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  const answer = async <T>(): Promise<T> => {
    const [message] = (await once(thread, 'message')) as [T];
    return message;
  };
  const ask = <T>(question: Question): Promise<T> => {
    thread.postMessage(question);
    return answer<T>();
  };
  await answer();
  const rebuilt = new Map<number, number>();
  return {
    name: 'supercluster',
    rebuilt,
    async prepare({ count }) {
      rebuilt.set(count, await ask<number>({ ask: 'prepare', filters: count }));
    },
    tile: (address) => ask<Uint8Array>({ ask: 'tile', address }),
    turn: (tiles, leastMs) => ask<number>({ ask: 'turn', tiles, leastMs }),
    async stop() {
      await thread.terminate();
    },
  };
}
