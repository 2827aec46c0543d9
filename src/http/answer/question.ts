import type { State } from '../../live/generation.js';
import type { QueryWork } from '../formats/format.js';
import type { ErrorBody, HttpError } from '../request/errors.js';
import type { Coding } from './compression.js';
import type { AnswerHead } from './head.js';
import type { Asked } from './view.js';

/** What is asked of an address: all that its answer is made from but the points. */
export interface Question {
  /** The name of the view. */
  readonly view: string;
  readonly wanted: unknown;
  readonly asked: Asked;
  /** The request's path and query. */
  readonly target: string;
  /** The place of the format among those of the view. */
  readonly format: number;
  /** How the body may be compressed. */
  readonly coding: Coding | undefined;
  /** Names the request: whatever decides about the answer besides state and format. */
  readonly name: string;
}

/** A question as it goes to another thread. */
export interface LaneQuestion extends Question {
  /** Who asks, by the address: each has a turn. */
  readonly client: string;
  /** Names the generation that is to answer, and the state of the accepted points beside it. */
  readonly generation: string;
  readonly state: State;
  /** Not nought once nobody waits for the answer any more. Threads share it. */
  readonly ended: Int32Array;
}

/** What the slow lane made of a question. */
export type LaneAnswer =
  | {
      readonly heads: readonly Omit<AnswerHead, 'format'>[];
      readonly body: Uint8Array<ArrayBuffer>;
      readonly work: QueryWork | undefined;
      /** The state that it was made from, which may be a newer one than was asked for. */
      readonly state: State;
    }
  | { readonly status: number; readonly body: ErrorBody; readonly headers: HttpError['headers'] }
  | { readonly error: unknown };

/** The threads that work on what takes long. */
export interface SlowLane {
  /** Resolves with the answer, which is an error where too many wait or a thread died. */
  ask(question: LaneQuestion): Promise<LaneAnswer>;
}
