import { open, readlink } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { descriptorOf, queuedBytes } from './answer/node-internals.js';

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
  /** Bytes of the connection that the system still had to bring to the client, where it tells. */
  held: number | undefined;
}

/** Answers are added up whenever this share of `maxUnsent` has been added. */
const STEP = 1 / 8;
/** Clients are cut off until answers hold this share of `maxUnsent`. */
const REST = 3 / 4;
/** Clients are looked at once in this part of `answerTimeout`. */
const LOOK = 1 / 8;

/**
 * Answers that the system has not taken yet, because their clients read slowly. A client that takes
 * nothing for `answerTimeout` is cut off. When all answers hold about `maxUnsent` bytes, so are
 * those who took nothing for longest. A reset tells also a client of HTTP/1.0 that its answer is not
 * whole. An answer that is taken at once costs one look at its length.
 *
 * Linux takes more only once a third of a connection's buffer, up to 4 MB, is free again: a client
 * that reads 20 kB a second would seem to take nothing for a minute. So the system is asked.
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
  #lookedAt: number = performance.now();

  constructor(limits: BacklogLimits) {
    this.#limits = limits;
    this.#lookMs = limits.answerTimeout * LOOK;
    setInterval(() => this.#lookAtAll(), this.#lookMs).unref();
  }

  /** Counts a response that was ended, or is written in pieces, until the system has taken all. */
  note(response: ServerResponse): void {
    if (response.writableLength === 0) return;
    if (response.req.socket.destroyed || this.#unsent.has(response)) return;
    const progress: Progress = { taken: 0, movedAt: 0, held: undefined };
    look(response, progress);
    this.#unsent.set(response, progress);
    response.once('close', () => this.#unsent.delete(response));
    this.#added += response.writableLength;
    if (this.#added > this.#limits.maxUnsent * STEP) this.#makeRoom(response);
  }

  get bytes(): number {
    let bytes = 0;
    for (const response of this.#unsent.keys()) bytes += response.writableLength;
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
      if (now - progress.movedAt <= this.#limits.answerTimeout) continue;
      this.stalled++;
      this.#cutOff(response);
    }
    void this.#ask(now);
  }

  #cutOff(response: ServerResponse): void {
    this.#unsent.delete(response);
    response.req.socket.resetAndDestroy();
  }

  /** Takes it for progress where the system has brought something to a client meanwhile. */
  async #ask(now: number): Promise<void> {
    const still = [...this.#unsent].filter(([, { movedAt }]) => now - movedAt > this.#lookMs / 2);
    if (still.length === 0) return;
    const tables = await heldBytes();
    for (const [response, progress] of still) {
      const held = tables.get((await inodeOf(response.req.socket)) ?? '');
      // a connection may be missing in a table that changes while it is read
      if (held === undefined) continue;
      if (progress.held !== undefined && held < progress.held) progress.movedAt = performance.now();
      progress.held = held;
    }
  }

  /** Cuts clients off while all answers hold too much, but never that of `newest`. */
  #makeRoom(newest: ServerResponse): void {
    const { maxUnsent } = this.#limits;
    this.#added = 0;
    let { bytes } = this;
    if (bytes <= maxUnsent * (1 - STEP)) return;
    for (const [response, progress] of this.#unsent) look(response, progress);
    const longestFirst = [...this.#unsent].sort(([, a], [, b]) => a.movedAt - b.movedAt);
    for (const [response] of longestFirst) {
      if (bytes <= maxUnsent * REST) return;
      if (response === newest) continue;
      bytes -= response.writableLength;
      this.crowded++;
      this.#cutOff(response);
    }
  }
}

function look({ req: { socket } }: ServerResponse, progress: Progress): void {
  // `bytesWritten` counts what was handed over, taken or not
  const queued = queuedBytes(socket);
  const taken = socket.bytesWritten - queued;
  // where nothing is queued, the client waits for more
  if (taken === progress.taken && queued > 0) return;
  progress.taken = taken;
  progress.movedAt = performance.now();
  progress.held = undefined;
}

/** In the tables of Linux: `tx_queue`, and the inode of the socket. */
const CONNECTION = /^ *\d+: \S+ \S+ \S+ (\w+):\S+ \S+ \S+ +\d+ +\d+ (\d+)/;

/** What the system holds of each connection, by its inode; empty where it does not tell. */
async function heldBytes(): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  for (const table of ['tcp', 'tcp6']) {
    const file = await open(`/proc/self/net/${table}`).catch(() => undefined);
    // line by line: the tables have all connections of the machine
    for await (const line of file?.readLines() ?? []) {
      const [, bytes, inode] = CONNECTION.exec(line) ?? [];
      if (inode !== undefined) held.set(inode, Number.parseInt(bytes!, 16));
    }
  }
  return held;
}

async function inodeOf(socket: Socket): Promise<string | undefined> {
  const link = await readlink(`/proc/self/fd/${descriptorOf(socket)}`).catch(() => '');
  return /^socket:\[(\d+)\]$/.exec(link)?.[1];
}
