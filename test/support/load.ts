import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadOrder, LoadResult } from './load-client.js';
import { until } from './wait.js';

/** A process that sends requests without a pause. */
export interface Load {
  /** What it found so far. */
  readonly result: LoadResult;
  /** Lets it finish what is under way; resolves with all it found. */
  end(): Promise<LoadResult>;
}

const NONE = { answered: 0, failed: 0, refused: 0, dropped: 0 };

/** Starts load on a port, which dies with this process; resolves once answers come. */
export async function startLoad(order: LoadOrder): Promise<Load> {
  const child = fork(join(import.meta.dirname, 'load-client.js'), [JSON.stringify(order)]);
  let result: LoadResult = { ...NONE, marks: {}, failures: [] };
  child.on('message', (message) => {
    result = message as LoadResult;
  });
  const closed = once(child, 'close');
  // a test that fails must not wait for it
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
