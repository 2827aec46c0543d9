import type { Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { FromPrimary, FromWorker } from './messages.js';

/** Asks all processes the same and gathers what they say. */
export interface Survey {
  /**
   * The answers of those that gave one within `patienceMs`: a process that is stuck does not keep those
   * of the others.
   */
  ask(question: (id: number) => FromPrimary, patienceMs: number): Promise<FromWorker[]>;
  answer(worker: Worker, id: number, message: FromWorker): void;
  /** Expects nothing more of a process that died. */
  leave(worker: Worker): void;
}

/** Makes a survey among the processes that `asked` lists at the time. */
export function createSurvey(asked: () => Worker[]): Survey {
  const open = new Map<number, { waitFor: Set<Worker>; answers: FromWorker[]; done: () => void }>();
  let lastId = 0;

  return {
    async ask(question, patienceMs) {
      const id = ++lastId;
      const waitFor = new Set(asked());
      const answers: FromWorker[] = [];
      const patience = new AbortController();
      await Promise.race([
        new Promise<void>((resolve) => {
          open.set(id, { waitFor, answers, done: resolve });
          for (const worker of waitFor) worker.send(question(id), () => {});
          if (waitFor.size === 0) resolve();
        }),
        delay(patienceMs, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
      open.delete(id);
      return answers;
    },
    answer(worker, id, message) {
      const survey = open.get(id);
      if (survey === undefined || !survey.waitFor.delete(worker)) return;
      survey.answers.push(message);
      if (survey.waitFor.size === 0) survey.done();
    },
    leave(worker) {
      for (const { waitFor, done } of open.values()) {
        if (waitFor.delete(worker) && waitFor.size === 0) done();
      }
    },
  };
}
