import type { ServerResponse } from 'node:http';
import { queuedBytes } from './answer/node-internals.js';

interface BacklogLimits {
  /** Bytes of all answers of one thread that the system has not taken. */
  readonly maxUnsent: number;
  /** Milliseconds in which a client must take something of its answer. */
  readonly answerTimeout: number;
}

interface Progress {
  /** Bytes that the system had taken from the connection at the last look. */
  taken: number;
  /** When a look first found `taken` bytes. */
  movedAt: number;
}

/** Answers are added up whenever this share of `maxUnsent` has been added. */
const STEP = 1 / 8;
/** Clients are cut off until answers hold this share of `maxUnsent`. */
const REST = 3 / 4;
const LONGEST_LOOK_MS = 1_000;

/**
 * Answers that the system has not taken yet, because their clients read slowly. A client that takes
 * nothing for `answerTimeout` is cut off. When all answers hold about `maxUnsent` bytes, so are
 * those who took nothing for longest. A reset tells also a client of HTTP/1.0 that its answer is not
 * whole. An answer that is taken at once costs one look at its length.
 */
export class Backlog {
  /** Clients cut off because they took nothing for `answerTimeout`. */
  stalled = 0;
  /** Clients cut off because all answers held too many bytes. */
  crowded = 0;
  readonly #limits: BacklogLimits;
  readonly #lookMs: number;
  readonly #unsent = new Map<ServerResponse, Progress>();
  #added = 0;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;

  constructor(limits: BacklogLimits) {
    this.#limits = limits;
    this.#lookMs = Math.min(LONGEST_LOOK_MS, limits.answerTimeout / 4);
  }

  /** Counts a response that was ended, or is written in pieces, until the system has taken all. */
  note(response: ServerResponse): void {
    if (response.writableLength === 0) return;
    if (isGone(response) || this.#unsent.has(response)) return;
    const progress = { taken: 0, movedAt: 0 };
    look(response, progress);
    this.#unsent.set(response, progress);
    response.once('close', () => this.#unsent.delete(response));
    if (this.#timer === undefined) {
      this.#lookedAt = performance.now();
      this.#timer = setInterval(() => this.#lookAtAll(), this.#lookMs).unref();
    }
    this.#added += response.writableLength;
    if (this.#added > this.#limits.maxUnsent * STEP) this.#makeRoom(response);
  }

  get bytes(): number {
    let bytes = 0;
    for (const response of this.#unsent.keys()) {
      // connections that were reset in this turn are closed in the next one
      if (!isGone(response)) bytes += response.writableLength;
    }
    return bytes;
  }

  #lookAtAll(): void {
    const now = performance.now();
    // while this thread stood still, nobody could take anything
    const stoodStill = Math.max(0, now - this.#lookedAt - this.#lookMs);
    this.#lookedAt = now;
    for (const [response, progress] of this.#unsent) {
      progress.movedAt = Math.min(now, progress.movedAt + stoodStill);
      look(response, progress);
      if (isGone(response) || now - progress.movedAt <= this.#limits.answerTimeout) continue;
      this.stalled++;
      response.req.socket.resetAndDestroy();
    }
    if (this.#unsent.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Cuts clients off while all answers hold too much, but never that of `newest`. */
  #makeRoom(newest: ServerResponse): void {
    const { maxUnsent } = this.#limits;
    this.#added = 0;
    let { bytes } = this;
    if (bytes <= maxUnsent * (1 - STEP)) return;
    for (const [response, progress] of this.#unsent) look(response, progress);
    const open = [...this.#unsent].filter(([response]) => !isGone(response));
    const longestFirst = open.sort(([, a], [, b]) => a.movedAt - b.movedAt);
    for (const [response] of longestFirst) {
      if (bytes <= maxUnsent * REST) return;
      const { socket } = response.req;
      if (socket === newest.req.socket) continue;
      bytes -= response.writableLength;
      // a connection may have two answers
      if (!socket.destroyed) this.crowded++;
      socket.resetAndDestroy();
    }
  }
}

function isGone({ req }: ServerResponse): boolean {
  return req.socket.destroyed;
}

function look({ req: { socket } }: ServerResponse, progress: Progress): void {
  // `bytesWritten` counts what was handed over, taken or not
  const queued = queuedBytes(socket);
  const taken = socket.bytesWritten - queued;
  // where nothing is queued, the client waits for more
  if (taken === progress.taken && queued > 0) return;
  progress.taken = taken;
  progress.movedAt = performance.now();
}
