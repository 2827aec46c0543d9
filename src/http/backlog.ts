import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { queuedBytes } from './answer/node-internals.js';

export interface BacklogLimits {
  /** Bytes of all such answers of one thread. */
  readonly maxUnsent: number;
  /** Milliseconds in which a client must take something of its answer. */
  readonly answerTimeout: number;
}

export interface Backlog {
  /** Counts a response that was ended, or is written in pieces, until the system has taken all. */
  note(response: ServerResponse): void;
  readonly bytes: number;
  /** Clients that were cut off because they took nothing for too long. */
  readonly stalled: number;
  /** Clients that were cut off because all answers together were too large. */
  readonly crowded: number;
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
 * Makes a backlog. A client that takes nothing of its answer for `answerTimeout` is cut off. When
 * all answers hold about `maxUnsent` bytes, those are who took nothing for longest. An answer that
 * the system takes at once, as it does nearly always, costs one look at its length.
 */
export function createBacklog({ maxUnsent, answerTimeout }: BacklogLimits): Backlog {
  const entries = new Map<Socket, Entry>();
  let added = 0;
  let timer: NodeJS.Timeout | undefined;
  let lookedAt = 0;
  const lookMs = Math.min(LONGEST_LOOK_MS, answerTimeout / 4);
  const cut = { stalled: 0, crowded: 0 };

  function add(response: ServerResponse): void {
    const { socket } = response.req;
    // what is written to a closed connection goes nowhere
    if (socket.destroyed) return;
    const entry = entries.get(socket) ?? open(socket);
    if (entry.responses.has(response)) return;
    entry.responses.add(response);
    response.once('close', () => {
      entry.responses.delete(response);
      if (entry.responses.size === 0) entries.delete(socket);
    });
    added += response.writableLength;
    if (added > maxUnsent * STEP) makeRoom(entry);
  }

  function open(socket: Socket): Entry {
    const entry = { socket, responses: new Set<ServerResponse>(), taken: 0, movedAt: 0 };
    look(entry);
    entries.set(socket, entry);
    if (timer === undefined) {
      lookedAt = performance.now();
      timer = setInterval(lookAtAll, lookMs).unref();
    }
    return entry;
  }

  function lookAtAll(): void {
    const now = performance.now();
    // while this thread stood still, nobody could take anything
    const stoodStill = Math.max(0, now - lookedAt - lookMs);
    lookedAt = now;
    forgetGone();
    for (const entry of entries.values()) {
      entry.movedAt = Math.min(now, entry.movedAt + stoodStill);
      look(entry);
      if (now - entry.movedAt > answerTimeout) cutOff(entry, 'stalled');
    }
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** Cuts clients off while all answers hold too much, but not the one that came last. */
  function makeRoom(newest: Entry): void {
    added = 0;
    let bytes = total();
    if (bytes <= maxUnsent * (1 - STEP)) return;
    for (const entry of entries.values()) look(entry);
    const longestFirst = [...entries.values()].sort((a, b) => a.movedAt - b.movedAt);
    for (const entry of longestFirst) {
      if (bytes <= maxUnsent * REST) return;
      if (entry === newest) continue;
      bytes -= bytesOf(entry);
      cutOff(entry, 'crowded');
    }
  }

  /** On a connection that stays open, a listener for each slow answer would be one too many. */
  function forgetGone(): void {
    for (const socket of entries.keys()) if (socket.destroyed) entries.delete(socket);
  }

  function cutOff({ socket }: Entry, why: keyof typeof cut): void {
    cut[why]++;
    entries.delete(socket);
    socket.destroy();
  }

  function total(): number {
    forgetGone();
    let bytes = 0;
    for (const entry of entries.values()) bytes += bytesOf(entry);
    return bytes;
  }

  return {
    note(response) {
      if (response.writableLength > 0) add(response);
    },
    get bytes() {
      return total();
    },
    get stalled() {
      return cut.stalled;
    },
    get crowded() {
      return cut.crowded;
    },
  };
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
