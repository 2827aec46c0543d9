import { type Problem, readPoint } from '../../model/point.js';
import type { TimeZone } from '../../model/time-zone.js';
import { BlockBuilder, columnsOf, MAX_RECORD_BYTES, type PointBlock } from '../block.js';
import { RenderedPoint } from './canonical.js';
import { MAX_SHOWN, type Row, UnknownKeys } from './row.js';

/** The points of a part of a file, and its problems. Plain data, for messages between threads. */
export interface Piece {
  readonly block: PointBlock | undefined;
  /** Lines or record numbers of the block's points. */
  readonly places: Float64Array;
  /** Of the first {@link MAX_SHOWN} invalid records. */
  readonly problems: readonly PlacedProblems[];
  readonly invalid: number;
  readonly unknownKeys: Readonly<Record<string, number>>;
  /** Times without an offset. */
  readonly localTimes: number;
}

export type PlacedProblems = readonly [place: number, problems: readonly Problem[]];

/** Validates rows, and collects points in blocks. */
export class PieceBuilder {
  readonly #zone: TimeZone;
  readonly #blocks = new BlockBuilder();
  #now = beginPiece();

  constructor(zone: TimeZone) {
    const offsetAt = (local: number): number | undefined => {
      this.#now.localTimes++;
      return zone.offsetAt(local);
    };
    this.#zone = { ...zone, offsetAt };
  }

  /** Adds a row; returns the piece before it when its block is full. */
  add(row: Row): Piece | undefined {
    const { place } = row;
    if (row.problem !== undefined) return this.#refuse(place, [row.problem]);
    const { value } = row;
    if (value instanceof RenderedPoint) return this.#put(this.#blocks.add(value), place);
    const point = readPoint(value, (key) => this.#now.unknownKeys.add(key), this.#zone);
    if (!('id' in point)) return this.#refuse(place, point);
    const columns = columnsOf(point);
    const bytes = columns.record.renderedLength;
    if (bytes > MAX_RECORD_BYTES) {
      const reason = `has ${bytes} bytes as JSON, at most ${MAX_RECORD_BYTES} are allowed`;
      return this.#refuse(place, [{ field: 'record', reason }]);
    }
    return this.#put(this.#blocks.add(columns), place);
  }

  /** Adds rows; returns the pieces whose blocks are full. */
  addAll(rows: Iterable<Row>): Piece[] {
    const pieces: Piece[] = [];
    for (const row of rows) {
      const piece = this.add(row);
      if (piece !== undefined) pieces.push(piece);
    }
    return pieces;
  }

  /** Invalid records since the last piece. */
  get invalid(): number {
    return this.#now.invalid;
  }

  /** What was added since the last piece. */
  take(): Piece {
    return this.#pieceOf(this.#blocks.take());
  }

  #refuse(place: number, problems: readonly Problem[]): undefined {
    const now = this.#now;
    now.invalid++;
    if (now.problems.length < MAX_SHOWN) now.problems.push([place, problems]);
  }

  /** Notes the place of a point that was added. `full` is the block before, had it no room. */
  #put(full: PointBlock | undefined, place: number): Piece | undefined {
    const piece = full && this.#pieceOf(full);
    this.#now.places.push(place);
    return piece;
  }

  #pieceOf(block: PointBlock | undefined): Piece {
    const { places, unknownKeys, ...others } = this.#now;
    this.#now = beginPiece();
    const unknown = unknownKeys.counts();
    return { block, places: Float64Array.from(places), unknownKeys: unknown, ...others };
  }
}

function beginPiece() {
  const unknownKeys = new UnknownKeys();
  const [places, problems]: [number[], PlacedProblems[]] = [[], []];
  return { places, problems, unknownKeys, invalid: 0, localTimes: 0 };
}
