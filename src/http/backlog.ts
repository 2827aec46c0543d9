import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { queuedBytes } from './answer/node-internals.js';

interface BacklogLimits {
  /** Bytes of all such answers of one thread. */
  readonly maxUnsent: number;
  /** Milliseconds in which a client must take something of its answer. */
  readonly answerTimeout: number;
}

interface Entry {
  readonly socket: Socket;
  readonly responses: Set<ServerResponse>;
  /** Bytes that the system took from this connection by the last look. */
  taken: number;
  /** When a look first found that many. */
  movedAt: number;
}

/** Answers are counted each time that this share of the bound was added. */
const STEP = 1 / 8;
/** When a count finds too much, clients are cut off until this share of the bound is left. */
const REST = 3 / 4;
const LONGEST_LOOK_MS = 1_000;

/**
 * Answers that the system has not taken yet, because their clients read slowly. A client that takes
 * nothing of its answer for `answerTimeout` is cut off. When all answers hold about `maxUnsent`
 * bytes, those are who took nothing for longest. An answer that the system takes at once, as it does
 * nearly always, costs one look at its length.
 */
export class Backlog {
  /** Clients that were cut off because they took nothing for too long. */
  stalled = 0;
  /** Clients that were cut off because all answers together were too large. */
  crowded = 0;
  readonly #limits: BacklogLimits;
  readonly #lookMs: number;
  readonly #entries = new Map<Socket, Entry>();
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
    const { socket } = response.req;
    // what is written to a closed connection goes nowhere
    if (socket.destroyed) return;
    const entry = this.#entries.get(socket) ?? this.#open(socket);
    if (entry.responses.has(response)) return;
    entry.responses.add(response);
    response.once('close', () => {
      entry.responses.delete(response);
      if (entry.responses.size === 0) this.#entries.delete(socket);
    });
    this.#added += response.writableLength;
    if (this.#added > this.#limits.maxUnsent * STEP) this.#makeRoom(entry);
  }

  get bytes(): number {
    this.#forgetGone();
    let bytes = 0;
    for (const entry of this.#entries.values()) bytes += bytesOf(entry);
    return bytes;
  }

  #open(socket: Socket): Entry {
    const entry = { socket, responses: new Set<ServerResponse>(), taken: 0, movedAt: 0 };
    look(entry);
    this.#entries.set(socket, entry);
    if (this.#timer === undefined) {
      this.#lookedAt = performance.now();
      this.#timer = setInterval(() => this.#lookAtAll(), this.#lookMs).unref();
    }
    return entry;
  }

  #lookAtAll(): void {
    const now = performance.now();
    // while this thread stood still, nobody could take anything
    const stoodStill = Math.max(0, now - this.#lookedAt - this.#lookMs);
    this.#lookedAt = now;
    this.#forgetGone();
    for (const entry of this.#entries.values()) {
      entry.movedAt = Math.min(now, entry.movedAt + stoodStill);
      look(entry);
      if (now - entry.movedAt <= this.#limits.answerTimeout) continue;
      this.stalled++;
      this.#cutOff(entry);
    }
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Cuts clients off while all answers hold too much, but not the one that came last. */
  #makeRoom(newest: Entry): void {
    const { maxUnsent } = this.#limits;
    this.#added = 0;
    let { bytes } = this;
    if (bytes <= maxUnsent * (1 - STEP)) return;
    for (const entry of this.#entries.values()) look(entry);
    const longestFirst = [...this.#entries.values()].sort((a, b) => a.movedAt - b.movedAt);
    for (const entry of longestFirst) {
      if (bytes <= maxUnsent * REST) return;
      if (entry === newest) continue;
      bytes -= bytesOf(entry);
      this.crowded++;
      this.#cutOff(entry);
    }
  }

  /** On a connection that stays open, a listener for each slow answer would be one too many. */
  #forgetGone(): void {
    for (const socket of this.#entries.keys()) if (socket.destroyed) this.#entries.delete(socket);
  }

  #cutOff({ socket }: Entry): void {
    this.#entries.delete(socket);
    socket.destroy();
  }
}

function bytesOf({ responses }: Entry): number {
  let bytes = 0;
  for (const response of responses) bytes += response.writableLength;
  return bytes;
}

function look(entry: Entry): void {
  // Node counts a write when it is handed over
  const queued = queuedBytes(entry.socket);
  const taken = entry.socket.bytesWritten - queued;
  // where nothing is queued, the client waits for more
  if (taken === entry.taken && queued > 0) return;
  entry.taken = taken;
  entry.movedAt = performance.now();
}
