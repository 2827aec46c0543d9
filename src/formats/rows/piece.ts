import { type Problem, readPoint, renderPoint } from '../../model/point.js';
import type { TimeZone } from '../../model/time-zone.js';
import { BlockBuilder, MAX_RECORD_BYTES, type PointBlock } from '../block.js';
import { RenderedPoint } from './canonical.js';
import { MAX_SHOWN, type Row, UnknownKeys } from './row.js';

/** The points of a stretch of a file, and what is wrong in it. Plain data: threads pass it on. */
export interface Piece {
  readonly block: PointBlock | undefined;
  /** Where each point of the block stands in the file. */
  readonly places: Float64Array;
  /** Of the first invalid records, in the order of the file. */
  readonly problems: readonly PlacedProblems[];
  readonly invalid: number;
  readonly unknownKeys: Readonly<Record<string, number>>;
  /** Times without an offset. */
  readonly localTimes: number;
}

/** What is wrong with the record at a place. */
export type PlacedProblems = readonly [place: number, problems: readonly Problem[]];

/** Judges rows, and puts those that are points into blocks. */
export class PieceBuilder {
  readonly #zone: TimeZone;
  readonly #blocks = new BlockBuilder();
  #places: number[] = [];
  #problems: PlacedProblems[] = [];
  #unknownKeys = new UnknownKeys();
  #localTimes = 0;
  /** Invalid records since the last piece. */
  invalid = 0;

  constructor(zone: TimeZone) {
    const offsetAt = (local: number): number | undefined => {
      this.#localTimes++;
      return zone.offsetAt(local);
    };
    this.#zone = { ...zone, offsetAt };
  }

  /** Adds a row; returns the piece before it when its block is full. */
  add(row: Row): Piece | undefined {
    const { place } = row;
    if (row.problem !== undefined) return this.#refuse(place, [row.problem]);
    const { value } = row;
    if (value instanceof RenderedPoint) return this.#put(this.#blocks.addRendered(value), place);
    const point = readPoint(value, (key) => this.#unknownKeys.add(key), this.#zone);
    if (!('id' in point)) return this.#refuse(place, point);
    const bytes = Buffer.from(renderPoint(point));
    if (bytes.length > MAX_RECORD_BYTES) {
      const reason = `has ${bytes.length} bytes as JSON, at most ${MAX_RECORD_BYTES} are allowed`;
      return this.#refuse(place, [{ field: 'record', reason }]);
    }
    return this.#put(this.#blocks.add(point, bytes), place);
  }

  /** What was added since the last piece. */
  take(): Piece {
    return this.#pieceOf(this.#blocks.take());
  }

  #refuse(place: number, problems: readonly Problem[]): undefined {
    this.invalid++;
    if (this.#problems.length < MAX_SHOWN) this.#problems.push([place, problems]);
  }

  /** Notes the place of a point, before which a block may have become full. */
  #put(full: PointBlock | undefined, place: number): Piece | undefined {
    const piece = full && this.#pieceOf(full);
    this.#places.push(place);
    return piece;
  }

  #pieceOf(block: PointBlock | undefined): Piece {
    const piece = {
      block,
      places: Float64Array.from(this.#places),
      problems: this.#problems,
      invalid: this.invalid,
      unknownKeys: this.#unknownKeys.counts(),
      localTimes: this.#localTimes,
    };
    this.#places = [];
    this.#problems = [];
    this.#unknownKeys = new UnknownKeys();
    this.#localTimes = 0;
    this.invalid = 0;
    return piece;
  }
}
