import { type Problem, readPoint } from '../../model/point.js';
import type { TimeZone } from '../../model/time-zone.js';
import {
  BlockBuilder,
  columnsOf,
  MAX_RECORD_BYTES,
  memoryOfBlock,
  type PointBlock,
  type PointColumns,
} from '../block.js';
import { RenderedPoint } from './canonical.js';
import { MAX_SHOWN, type Row, UnknownKeys } from './row.js';

/** The points of a part of a file, and its problems. Plain data, for messages between threads. */
export interface Piece {
  readonly blocks: readonly PointBlock[];
  /** Lines or record numbers of the points. */
  readonly places: Float64Array;
  /** Of the first {@link MAX_SHOWN} invalid records. */
  readonly problems: readonly PlacedProblems[];
  readonly invalid: number;
  readonly unknownKeys: Readonly<Record<string, number>>;
  /** Times without an offset. */
  readonly localTimes: number;
}

type PlacedProblems = readonly [place: number, problems: readonly Problem[]];

export function memoryOfPiece({ blocks, places }: Piece): ArrayBuffer[] {
  return [places.buffer as ArrayBuffer, ...blocks.flatMap(memoryOfBlock)];
}

/** Invalid records that end a piece without a full block. */
const INVALID_OF_PIECE = 10_000;

/** Validates rows that come in batches. */
export async function* piecesOf(
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  zone: TimeZone,
): AsyncGenerator<Piece> {
  const builder = new PieceBuilder(zone);
  for await (const rows of batches) {
    for (const row of rows) builder.add(row);
    if (builder.isLarge) yield builder.take();
  }
  yield builder.take();
}

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

  add({ place, problem, value }: Row): void {
    const now = this.#now;
    const point = problem === undefined ? this.#pointOf(value) : [problem];
    if ('record' in point) {
      this.#blocks.add(point);
      now.places.push(place);
      return;
    }
    now.invalid++;
    if (now.problems.length < MAX_SHOWN) now.problems.push([place, point]);
  }

  /** The point of a record, or what is wrong with it. */
  #pointOf(value: unknown): PointColumns | readonly Problem[] {
    if (value instanceof RenderedPoint) return value;
    const point = readPoint(value, (key) => this.#now.unknownKeys.add(key), this.#zone);
    if (!('id' in point)) return point;
    const columns = columnsOf(point);
    const bytes = columns.record.renderedLength;
    if (bytes <= MAX_RECORD_BYTES) return columns;
    const reason = `has ${bytes} bytes as JSON, at most ${MAX_RECORD_BYTES} are allowed`;
    return [{ field: 'record', reason }];
  }

  get isLarge(): boolean {
    return this.#blocks.hasFull || this.#now.invalid > INVALID_OF_PIECE;
  }

  /** What was added since the last piece. */
  take(): Piece {
    const { places, unknownKeys, ...others } = this.#now;
    this.#now = beginPiece();
    return {
      blocks: this.#blocks.take(),
      places: Float64Array.from(places),
      unknownKeys: unknownKeys.counts(),
      ...others,
    };
  }
}

function beginPiece() {
  const unknownKeys = new UnknownKeys();
  const [places, problems]: [number[], PlacedProblems[]] = [[], []];
  return { places, problems, unknownKeys, invalid: 0, localTimes: 0 };
}
