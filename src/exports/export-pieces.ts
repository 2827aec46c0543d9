import { constants, crc32, deflateRawSync } from 'node:zlib';
import { NAMES_BYTES } from '../formats/record-layout.js';
import type { ExportQuery } from '../http/request/list-parameters.js';
import { type Delta, type DeltaRow, deltaRecord } from '../index/delta.js';
import type { Row } from '../index/order.js';
import { wordsOf } from '../index/postings.js';
import { type FetchedPage, fetchPage } from '../index/record-page.js';
import { recordLength } from '../index/records.js';
import { AT_ONCE, Budget, sortNumbers } from '../model/budget.js';
import { joinedBytes } from '../model/memory.js';
import type { RecordKey } from '../model/point.js';
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
  /** Points to come. */
  left: number;
  readonly #source: ExportSource;
  readonly #nextRow: () => number;
  readonly #encoder: FileEncoder;
  readonly #gzip: ReturnType<typeof gzipInPieces> | undefined;
  readonly #rows: Uint32Array;

  /** Finds the points. `check` is called every millisecond or so, and may throw to give up. */
  constructor(
    source: ExportSource,
    query: ExportQuery,
    begin: BeginFile,
    { isGzipped = false, check = () => {} }: { isGzipped?: boolean; check?: () => void } = {},
  ) {
    [this.count, this.#nextRow] = walk(source, query, new Budget(AT_ONCE, check));
    this.left = this.count;
    this.#source = source;
    this.#encoder = begin(query.keys);
    this.#gzip = isGzipped ? gzipInPieces() : undefined;
    this.#rows = new Uint32Array(Math.min(this.#encoder.piece?.rows ?? MOST_ROWS, this.count));
  }

  /** The next piece, of records with some `bytes` bytes. */
  next(bytes: number): Piece {
    const { engine, delta } = this.#source;
    const found = this.#take(this.#encoder.piece?.bytes ?? bytes);
    const isLast = this.left === 0;
    const page = fetchPage(engine.dataset, delta, this.#rows, found);
    const parts = found === 0 ? [] : [this.#encoder.add(page)];
    const piece = isLast ? joinedBytes([...parts, this.#encoder.end()]) : parts[0]!;
    return { bytes: this.#gzip?.(piece, isLast) ?? piece, isLast };
  }

  /** Takes rows until there is no room for more or their records have `bytes` bytes. */
  #take(bytes: number): number {
    const { engine, delta } = this.#source;
    const { count, records } = engine.dataset;
    const rows = this.#rows;
    let found = 0;
    for (let size = 0; found < rows.length && size < bytes && this.left > 0; found++) {
      const row = this.#nextRow();
      rows[found] = row;
      size +=
        NAMES_BYTES +
        (row < count ? recordLength(records, row) : deltaRecord(delta!, row - count).length);
      this.left--;
    }
    return found;
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
 * The number of all matches, and what tells the row of the next one, from the dataset's `count` on
 * those of the delta. It keeps a bit for each row of the dataset and its place, no list of matches.
 * Without an order rows come as they lie in memory, accepted points last.
 */
function walk(
  { engine, delta, length }: ExportSource,
  { filters, ordering }: ExportQuery,
  budget: Budget,
): [count: number, next: () => number] {
  const { dataset } = engine;
  const { count } = dataset;
  /** Matches in the delta, in the order of the walk. */
  const accepted =
    length === 0 ? new Int32Array(0) : matchDelta(delta!, filters, 0, length, budget).slice();
  const [matches, bits] = engine.collect(
    filters,
    (found, scratch): [number, Int32Array] => [
      found.count,
      markMatches(dataset, scratch, found).slice(0, wordsOf(count)),
    ],
    undefined,
    budget,
  );
  const [order, isDescending] = ordering ? orderOf(dataset, ordering) : [undefined, false];
  let isBefore = (_beside: DeltaRow, _own: Row): boolean => false;
  if (order !== undefined && accepted.length > 0) {
    const keys = keysOf(dataset, order, delta!);
    const ids = keysOf(dataset, dataset.byId, delta!);
    const sign = isDescending ? -1 : 1;
    const compare = (a: DeltaRow, b: DeltaRow): number =>
      sign * (keys.ofAccepted(a) - keys.ofAccepted(b) || ids.ofAccepted(a) - ids.ofAccepted(b));
    sortNumbers(accepted, compare, budget);
    isBefore = (beside, own) =>
      sign * (keys.ofAccepted(beside) - keys.of(own) || ids.ofAccepted(beside) - ids.of(own)) < 0;
  }
  let step = 0;
  let besideStep = 0;

  /** The row of the dataset at the step, match or not; -1 behind the last one. */
  function ownRow(): Row {
    if (step >= count) return -1;
    const rank = isDescending ? count - 1 - step : step;
    return order === undefined ? rank : order.rows[rank]!;
  }

  function next(): number {
    let own = ownRow();
    for (; own >= 0 && bitOf(bits, own) === 0; own = ownRow()) step++;
    const beside = accepted[besideStep];
    if (beside !== undefined && (own < 0 || isBefore(beside, own))) {
      besideStep++;
      return count + beside;
    }
    step++;
    return own;
  }

  return [matches + accepted.length, next];
}
