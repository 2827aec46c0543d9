import type { GenerationParts, State } from '../../reload/generation.js';
import type { QueryWork } from '../formats/representation.js';
import type { ErrorBody, HttpError } from '../request/http-error.js';
import type { ExportQuery } from '../request/list-parameters.js';
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

/** What every question says of who asks. */
interface Waited {
  /** Who asks, by the address: each has a turn. */
  readonly client: string;
  /** Not nought once nobody waits for the answer any more. Threads share it. */
  readonly ended: Int32Array;
}

/** A question as it goes to another thread. */
export interface PageQuestion extends Question, Waited {
  /** Names the generation that is to answer, and the state of the accepted points beside it. */
  readonly generation: string;
  readonly state: State;
  /** The generation itself, where no other will do. */
  readonly parts?: GenerationParts | undefined;
}

/**
 * Asks for the next piece of an export, or for the first one of a new export. Once nobody waits, it
 * ends the export.
 */
export interface ExportStep extends Waited {
  /** As the lane has numbered the export; undefined of a new one. */
  readonly export: number | undefined;
  /** Absent once the export has begun. */
  readonly begin?: ExportBegin;
  /** Bytes of records that the piece is to have. */
  readonly bytes: number;
}

/** What is exported, and how. */
export interface ExportBegin {
  readonly format: string;
  readonly query: ExportQuery;
  readonly isGzipped: boolean;
}

/** What the slow lane works on. */
export type LaneQuestion = PageQuestion | ExportStep;

/** A piece of an export. */
export interface ExportPiece {
  readonly export: number;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
  /** What all pieces are made from, and the generation that has it. */
  readonly state: State;
  readonly generation: string;
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
  | ExportPiece
  | { readonly status: number; readonly body: ErrorBody; readonly headers: HttpError['headers'] }
  | { readonly error: unknown };

/** The threads that work on what takes long. */
export interface SlowLane {
  /** Resolves with the answer, which is an error where too many wait or a thread died. */
  ask(question: LaneQuestion): Promise<LaneAnswer>;
}
