import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerReader } from '../generators/answers.js';

/** What an attacker did: connections that it opened, and requests that it sent. */
export interface Tally {
  opened: number;
  sent: number;
}

export function emptyTally(): Tally {
  return { opened: 0, sent: 0 };
}

/** Whom to attack, until when, and where to count. */
export interface Attacking {
  readonly port: number;
  readonly signal: AbortSignal;
  readonly tally: Tally;
}

/** A pause after a connection that failed, so that a dead service is not hammered. */
const PAUSE_MS = 20;

/** Opens a connection that swallows its errors; the end of the attack closes it. */
export function open({ port, signal, tally }: Attacking): Socket {
  const socket = connect({ port, host: '127.0.0.1', signal });
  tally.opened++;
  socket.on('error', () => {});
  return socket;
}

/** Resolves when a connection is closed. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}

/** Runs `connections` loops side by side until the attack ends; each turn is one `step`. */
export async function repeat(
  { signal }: Attacking,
  connections: number,
  step: (index: number) => Promise<void>,
): Promise<void> {
  const loop = async (_: unknown, index: number): Promise<void> => {
    while (!signal.aborted) await step(index);
  };
  await Promise.all(Array.from({ length: connections }, loop));
}

export async function ended(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Waits; the end of the attack ends the wait. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => {});
}

/**
 * Closed loop: each connection sends the bytes of `next` once its last answer has come, and is
 * opened again when the service hangs up.
 */
export async function flood(
  attacking: Attacking,
  connections: number,
  next: () => Buffer,
): Promise<void> {
  const { signal, tally } = attacking;
  await repeat(attacking, connections, async () => {
    const socket = open(attacking);
    const send = (): void => {
      tally.sent++;
      socket.write(next());
    };
    const read = answerReader(() => {
      if (!signal.aborted) send();
    });
    socket.on('data', read);
    send();
    const began = performance.now();
    await closed(socket);
    if (performance.now() - began < PAUSE_MS) await pause(PAUSE_MS, signal);
  });
}
