import { constants, crc32, deflateRawSync } from 'node:zlib';
import { NAMES_BYTES } from '../formats/record-layout.js';
import type { ExportQuery } from '../http/request/list-parameters.js';
import type { Dataset } from '../index/dataset.js';
import { type Delta, type DeltaMatches, type DeltaRow, deltaRecord } from '../index/delta.js';
import type { Order, Row } from '../index/order.js';
import { wordsOf } from '../index/postings.js';
import { type FetchedPage, fetchPage } from '../index/record-page.js';
import { recordLength } from '../index/records.js';
import { AT_ONCE, Budget, sortNumbers } from '../model/budget.js';
import { joinedBytes } from '../model/memory.js';
import type { RecordKey } from '../model/point.js';
import type { Filters, TimeOrdering } from '../model/query.js';
import { bitOf } from '../query/common/marks.js';
import { markMatches } from '../query/common/matches.js';
import { matchDelta } from '../query/delta-match.js';
import { type Engine, orderOf } from '../query/engine.js';
import { keysOf } from '../query/merged-page.js';

/** Begins a file of records with these keys, all where undefined. */
export type BeginFile = (keys: readonly RecordKey[] | undefined) => FileEncoder;

/** Makes a file piece by piece, in order. */
export interface FileEncoder {
  /** The most records of a piece, and their bytes, instead of those that are asked for. */
  readonly piece?: { readonly rows: number; readonly bytes: number };
  add(page: FetchedPage): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
}

/** The points that an export is made from; they stay to its end. */
interface ExportSource {
  readonly engine: Engine;
  readonly delta: Delta | undefined;
  readonly length: DeltaRow;
}

interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** The most rows of a piece: the shortest records have some 130 bytes. */
const MOST_ROWS = 8_192;

/** An export under way, which keeps its points in memory. */
export class Export {
  readonly count: number;
  readonly #source: ExportSource;
  readonly #walk: Walk;
  readonly #encoder: FileEncoder;
  readonly #gzip: ReturnType<typeof gzipInPieces> | undefined;
  readonly #rows: Uint32Array;

  /** Finds the points. `check` is called every millisecond or so, and may throw to give up. */
  constructor(
    source: ExportSource,
    { filters, ordering, keys }: ExportQuery,
    begin: BeginFile,
    { isGzipped = false, check = () => {} }: { isGzipped?: boolean; check?: () => void } = {},
  ) {
    const { engine, delta, length } = source;
    const budget = new Budget(AT_ONCE, check);
    const rows = length === 0 ? undefined : matchDelta(delta!, filters, 0, length, budget);
    const accepted = rows && { delta: delta!, rows };
    this.#walk = new Walk(engine, filters, ordering, accepted, budget);
    this.count = this.#walk.left;
    this.#source = source;
    this.#encoder = begin(keys);
    this.#gzip = isGzipped ? gzipInPieces() : undefined;
    this.#rows = new Uint32Array(Math.min(this.#encoder.piece?.rows ?? MOST_ROWS, this.count));
  }

  /** Points to come. */
  get left(): number {
    return this.#walk.left;
  }

  /** The next piece, of records with some `bytes` bytes. */
  next(bytes: number): Piece {
    const found = this.#walk.take(this.#rows, this.#encoder.piece?.bytes ?? bytes);
    const isLast = this.left === 0;
    const { engine, delta } = this.#source;
    const page = fetchPage(engine.dataset, delta, this.#rows, found);
    const parts = found === 0 ? [] : [this.#encoder.add(page)];
    const piece = isLast ? joinedBytes([...parts, this.#encoder.end()]) : parts[0]!;
    return { bytes: this.#gzip?.(piece, isLast) ?? piece, isLast };
  }
}

const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block of deflate. */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);
/** The level of answers. Each piece ends on a whole byte, so that others can follow. */
const DEFLATE = { level: 4, finishFlush: constants.Z_SYNC_FLUSH };

/** Compresses pieces apart: a stream of zlib would keep 300 kB for each slow reader. */
function gzipInPieces(): (piece: Uint8Array, isLast: boolean) => Uint8Array<ArrayBuffer> {
  let crc = 0;
  let bytes = 0;
  return (piece, isLast) => {
    const parts: Uint8Array[] = bytes === 0 ? [GZIP_HEAD] : [];
    crc = crc32(piece, crc);
    bytes += piece.length;
    parts.push(deflateRawSync(piece, DEFLATE));
    if (isLast) parts.push(LAST_BLOCK, new Uint8Array(Uint32Array.of(crc, bytes).buffer));
    return joinedBytes(parts);
  };
}

/**
 * Walks through all matches, some at a time. It keeps a bit for each row of the dataset and its
 * place, no list of matches. Without an order rows come as they lie in memory, accepted points
 * last.
 */
class Walk {
  left: number;
  readonly #dataset: Dataset;
  readonly #delta: Delta | undefined;
  readonly #bits: Int32Array;
  readonly #order: Order | undefined;
  readonly #isDescending: boolean;
  /** Matches in the delta, in the order of the walk. */
  readonly #beside: Int32Array;
  readonly #isBefore: (beside: DeltaRow, own: Row) => boolean = () => false;
  #step = 0;
  #besideStep = 0;

  constructor(
    engine: Engine,
    filters: Filters,
    ordering: TimeOrdering | undefined,
    accepted: DeltaMatches | undefined,
    budget: Budget,
  ) {
    const { dataset } = engine;
    const [own, bits] = engine.collect(
      filters,
      (matches, scratch): [number, Int32Array] => [
        matches.count,
        markMatches(dataset, scratch, matches).slice(0, wordsOf(dataset.count)),
      ],
      undefined,
      budget,
    );
    this.left = own + (accepted?.rows.length ?? 0);
    this.#dataset = dataset;
    this.#delta = accepted?.delta;
    this.#bits = bits;
    const [order, isDescending] = ordering ? orderOf(dataset, ordering) : [undefined, false];
    this.#order = order;
    this.#isDescending = isDescending;
    this.#beside = accepted?.rows.slice() ?? new Int32Array(0);
    if (order === undefined || accepted === undefined) return;
    const keys = keysOf(dataset, order, accepted.delta);
    const ids = keysOf(dataset, dataset.byId, accepted.delta);
    const sign = isDescending ? -1 : 1;
    const compare = (a: DeltaRow, b: DeltaRow): number =>
      sign * (keys.ofAccepted(a) - keys.ofAccepted(b) || ids.ofAccepted(a) - ids.ofAccepted(b));
    sortNumbers(this.#beside, compare, budget);
    this.#isBefore = (beside, own) =>
      sign * (keys.ofAccepted(beside) - keys.of(own) || ids.ofAccepted(beside) - ids.of(own)) < 0;
  }

  /**
   * Writes the next rows, until `rows` is full or their records have `bytes` bytes; returns their
   * number. Rows from the dataset's `count` on are the delta's.
   */
  take(rows: Uint32Array, bytes: number): number {
    const { count, records } = this.#dataset;
    let found = 0;
    for (let size = 0; found < rows.length && size < bytes && this.left > 0; found++) {
      const row = this.#next(count);
      rows[found] = row;
      size +=
        NAMES_BYTES +
        (row < count ? recordLength(records, row) : deltaRecord(this.#delta!, row - count).length);
      this.left--;
    }
    return found;
  }

  /** The next match; there must be one. */
  #next(count: number): number {
    let own = this.#ownAt(this.#step);
    while (own >= 0 && bitOf(this.#bits, own) === 0) own = this.#ownAt(++this.#step);
    const beside = this.#beside[this.#besideStep];
    if (beside !== undefined && (own < 0 || this.#isBefore(beside, own))) {
      this.#besideStep++;
      return count + beside;
    }
    this.#step++;
    return own;
  }

  /** The row of the dataset at a step, match or not; -1 behind the last one. */
  #ownAt(step: number): Row {
    const { count } = this.#dataset;
    if (step >= count) return -1;
    const rank = this.#isDescending ? count - 1 - step : step;
    return this.#order === undefined ? rank : this.#order.rows[rank]!;
  }
}
