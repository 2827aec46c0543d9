import type { LaneAnswer, LaneQuestion, SlowLane } from '../http/answer/question.js';

/** The end of a thread that hands its questions on to the slow lane. */
export interface LaneRelay extends SlowLane {
  settle(number: number, answer: LaneAnswer): void;
}

/** Makes the end of a thread; `send` gets each question with its number. */
export function createLaneRelay(send: (number: number, question: LaneQuestion) => void): LaneRelay {
  const waiting = new Map<number, (answer: LaneAnswer) => void>();
  let last = 0;
  return {
    ask(question) {
      return new Promise((resolve) => {
        waiting.set(++last, resolve);
        send(last, question);
      });
    },
    settle(number, answer) {
      waiting.get(number)!(answer);
      waiting.delete(number);
    },
  };
}
