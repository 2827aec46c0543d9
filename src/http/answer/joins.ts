import type { ServerResponse } from 'node:http';
import type { AnswerKey } from './answer-cache.js';

/** Lets requests for an answer that is being made wait for it: it is made once, not for each. */
export interface Joins {
  /** Has `again` called when the answer under the key was made; false where nobody makes it. */
  join(key: AnswerKey, again: () => void): boolean;
  /**
   * Notes that the answer is being made. What is returned is to be called when it is kept; where it
   * never is, those who wait are called when the response has ended.
   */
  lead(key: AnswerKey, response: ServerResponse): () => void;
}

/** Makes the joins of a thread. */
export function createJoins(): Joins {
  const waiting = new Map<number, (() => void)[]>();
  return {
    join({ hash }, again) {
      const others = waiting.get(hash);
      others?.push(again);
      return others !== undefined;
    },
    lead({ hash }, response) {
      const others: (() => void)[] = [];
      waiting.set(hash, others);
      const release = (): void => {
        if (waiting.get(hash) !== others) return;
        waiting.delete(hash);
        for (const again of others) again();
      };
      response.once('close', release);
      return release;
    },
  };
}
