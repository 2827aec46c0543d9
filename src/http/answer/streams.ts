import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import {
  appendToDelta,
  createDelta,
  type Delta,
  type DeltaRow,
  deltaLength,
  deltaRecord,
  lastSequence,
} from '../../index/delta.js';
import { firstAbove } from '../../index/order.js';
import type { Filters } from '../../model/query.js';
import { acceptedOf } from '../../posts/adopt.js';
import { matchDelta } from '../../query/delta-match.js';
import { accept } from '../../reload/beginning.js';
import type { Context, Posting } from './context.js';

/** Between two looks for new points, in milliseconds. */
const LOOK_MS = 20;
/** How long streams are worked on in a turn of the event loop. */
const SLICE_MS = 1;
/** Posts that are read from the journal at a time: each is parsed, which takes some 10 µs. */
const POSTS = 64;
/** Rows of a delta that are looked at for a stream at a time. */
const ROWS = 256;
/** A stream is given no more while it has so many bytes; a single point may exceed it. */
const MOST_BYTES = 64 * 1024;
/** A stream without points says after so many milliseconds that it is there. */
const BEAT_MS = 15_000;

export interface StreamForm {
  point(record: Uint8Array, sequence: number): Uint8Array;
  /** Says that all points up to a sequence have been looked at; empty where it cannot be said. */
  beat(sequence: number): string;
}

export interface StreamStart {
  readonly filters: Filters;
  /** The sequence behind which it begins, and the one with which it ends, if any. */
  readonly after: number;
  readonly through: number;
  /** Whether it breaks off where posts are missing. */
  readonly isWhole: boolean;
}

/** What streams are made from; they end where it is closing. */
type StreamSources = Pick<Context, 'current' | 'stats' | 'closing'> & Pick<Posting, 'journal'>;

class Stream extends Readable {
  readonly start: StreamStart;
  readonly form: StreamForm;
  cursor: number;
  isHungry = false;
  /** By `performance.now()`. */
  beatsAt = 0;
  readonly #onHungry: () => void;

  constructor(start: StreamStart, form: StreamForm, onHungry: () => void) {
    super({ highWaterMark: MOST_BYTES });
    this.start = start;
    this.form = form;
    this.cursor = start.after;
    this.#onHungry = onHungry;
  }

  override _read(): void {
    this.isHungry = true;
    this.#onHungry();
  }

  give(bytes: Uint8Array | string): void {
    this.isHungry = this.push(bytes);
    this.beatsAt = performance.now() + BEAT_MS;
  }

  /** Says how far it is, where that can be said. */
  say(): void {
    const text = this.form.beat(this.cursor);
    if (text === '') this.beatsAt = Number.POSITIVE_INFINITY;
    else this.give(text);
  }
}

/**
 * The streams of accepted points of one thread. New points come out of the delta that all threads
 * share; what a stream has missed beside that, out of the journal. A stream keeps nothing but the
 * sequence that it has come to: a slow reader has the next points when it takes them.
 */
export class Streams {
  readonly #sources: StreamSources;
  readonly #open = new Set<Stream>();
  #isLooking = false;
  #lookNow = (): void => {};

  constructor(sources: StreamSources) {
    this.#sources = sources;
  }

  /** Opens a stream; `onClose` is called once it has ended, however that came. */
  open(start: StreamStart, form: StreamForm, onClose: () => void): Readable {
    const { stats } = this.#sources;
    const stream = new Stream(start, form, () => this.#lookNow());
    this.#open.add(stream);
    stats.streams++;
    stream.once('close', () => {
      this.#open.delete(stream);
      stats.streams--;
      onClose();
    });
    // the head is sent with the first bytes
    stream.say();
    if (!this.#isLooking) void this.#look();
    return stream;
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#open.size > 0) {
      const isBehind = await this.#lookAtAll();
      if (isBehind) await turn();
      else await this.#pause();
    }
    this.#isLooking = false;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.#lookNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Hands on what is new; returns whether some stream could have had more. */
  async #lookAtAll(): Promise<boolean> {
    let behind: Stream | undefined;
    let isBehind = false;
    let until = performance.now() + SLICE_MS;
    for (const stream of [...this.#open]) {
      if (performance.now() > until) {
        await turn();
        until = performance.now() + SLICE_MS;
      }
      const { delta } = this.#sources.current.generation;
      if (!this.#endIfOver(stream) && stream.isHungry) {
        if (stream.cursor < delta!.base) behind ??= stream;
        else if (this.#advance(stream, delta!)) isBehind = true;
        if (performance.now() > stream.beatsAt) stream.say();
      }
    }
    if (behind === undefined) return isBehind;
    // the next time it is another one's turn
    if (this.#open.delete(behind)) this.#open.add(behind);
    await this.#catchUp(behind);
    this.#endIfOver(behind);
    return true;
  }

  /** Ends a stream that has come to its end, or all of them; returns whether it did. */
  #endIfOver(stream: Stream): boolean {
    const isOver = stream.cursor >= stream.start.through || this.#sources.closing();
    if (isOver && this.#open.delete(stream)) stream.push(null);
    return isOver;
  }

  /** Hands on rows of the delta; returns whether there are more for a stream that has room. */
  #advance(stream: Stream, delta: Delta): boolean {
    const length = deltaLength(delta);
    const from = firstAbove(delta.sequence.subarray(0, length), stream.cursor);
    const to = Math.min(length, from + ROWS);
    const looked = this.#hand(stream, delta, from, to);
    // behind the last row there may be posts that were passed over
    if (looked === length) stream.cursor = Math.max(stream.cursor, lastSequence(delta, length));
    this.#endIfOver(stream);
    return looked < length && stream.isHungry;
  }

  /** Hands on posts of the journal, which may be part of the dataset by now. */
  async #catchUp(stream: Stream): Promise<void> {
    const { cursor, start } = stream;
    try {
      const { journal } = this.#sources;
      const [posts, { keptAfter }] = await Promise.all([
        journal.read(cursor, POSTS),
        journal.state(),
      ]);
      if (stream.destroyed) return;
      if (start.isWhole && cursor < keptAfter) throw new Error('Posts are kept no longer.');
      if (posts.length === 0) stream.cursor = this.#sources.current.generation.delta!.base;
      const points = posts.map((post) => accept(acceptedOf(post)));
      const bytes = points.reduce((sum, { record }) => sum + record.length, 0);
      const delta = createDelta({ rows: points.length, bytes });
      appendToDelta(delta, points);
      this.#hand(stream, delta, 0, points.length);
    } catch (error) {
      // whoever reads it comes back, and is told why
      stream.destroy(error as Error);
    }
  }

  /** Hands on the matches among some rows, until they fill the stream; returns the next row. */
  #hand(stream: Stream, delta: Delta, from: DeltaRow, to: DeltaRow): DeltaRow {
    const { start, form } = stream;
    const parts: Uint8Array[] = [];
    let bytes = 0;
    let next = to;
    if (from === to) return next;
    for (const row of matchDelta(delta, start.filters, from, to)) {
      const sequence = delta.sequence[row]!;
      if (sequence > start.through) break;
      const part = form.point(deltaRecord(delta, row), sequence);
      parts.push(part);
      bytes += part.length;
      if (bytes < MOST_BYTES) continue;
      next = row + 1;
      break;
    }
    stream.cursor = delta.sequence[next - 1]!;
    this.#sources.stats.streamed += parts.length;
    if (parts.length > 0) stream.give(Buffer.concat(parts));
    return next;
  }
}
