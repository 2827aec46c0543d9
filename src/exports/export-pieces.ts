import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { ExportQuery } from '../http/request/list-parameters.js';
import type { Delta, DeltaRow } from '../index/delta.js';
import { fetchMixedPage, fetchPage } from '../index/record-page.js';
import { AT_ONCE, Budget } from '../model/budget.js';
import { matchDelta } from '../query/delta-match.js';
import type { Engine } from '../query/engine.js';
import { type BeginFile, type FileEncoder, join } from './encoder.js';
import { Walk } from './walk.js';

/** The points that are exported from, which stay the same to the end. */
export interface ExportSource {
  readonly engine: Engine;
  readonly delta: Delta | undefined;
  readonly length: DeltaRow;
}

export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** Rows of a piece at most: the shortest records have some 130 bytes. */
const MOST_ROWS = 8_192;

/** An export under way: holds the points that it is made from until it is dropped. */
export class Export {
  readonly count: number;
  readonly #source: ExportSource;
  readonly #walk: Walk;
  readonly #encoder: FileEncoder;
  readonly #gzip: Gzip | undefined;
  readonly #rows: Uint32Array;

  /** Finds the points. `check` is called every millisecond or so, and gives up where it throws. */
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
    this.#gzip = isGzipped ? new Gzip() : undefined;
    this.#rows = new Uint32Array(Math.min(this.#encoder.piece?.rows ?? MOST_ROWS, this.count));
  }

  /** Points that have yet to come. */
  get left(): number {
    return this.#walk.left;
  }

  /** The next piece, of records with some `bytes` bytes. Nothing follows the last one. */
  next(bytes: number): Piece {
    const found = this.#walk.take(this.#rows, this.#encoder.piece?.bytes ?? bytes);
    const isLast = this.left === 0;
    const parts = found === 0 ? [] : [this.#encode(found)];
    const piece = isLast ? join([...parts, this.#encoder.end()]) : parts[0]!;
    return { bytes: this.#gzip?.add(piece, isLast) ?? piece, isLast };
  }

  #encode(found: number): Uint8Array<ArrayBuffer> {
    const { engine, delta } = this.#source;
    const { records, count } = engine.dataset;
    const page =
      delta === undefined
        ? fetchPage(records, this.#rows, found)
        : fetchMixedPage(records, count, delta, this.#rows, found);
    return this.#encoder.add(page);
  }
}

const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty block of deflate, which says that it is the last one. */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);
/** As answers have it. Each piece ends on a whole byte, so that others can follow. */
const DEFLATE = { level: 4, finishFlush: constants.Z_SYNC_FLUSH };

/**
 * Compresses a stream in pieces that know nothing of each other, one call a piece: a stream of
 * Node's would keep 300 kB for a slow reader and work in the threads that answers need.
 */
class Gzip {
  #crc = 0;
  #bytes = 0;

  add(piece: Uint8Array, isLast: boolean): Uint8Array<ArrayBuffer> {
    const parts: Uint8Array[] = this.#bytes === 0 ? [GZIP_HEAD] : [];
    this.#crc = crc32(piece, this.#crc);
    this.#bytes += piece.length;
    parts.push(deflateRawSync(piece, DEFLATE));
    if (isLast) {
      const sums = Buffer.alloc(8);
      sums.writeUInt32LE(this.#crc, 0);
      sums.writeUInt32LE(this.#bytes % 2 ** 32, 4);
      parts.push(LAST_BLOCK, sums);
    }
    return join(parts);
  }
}
