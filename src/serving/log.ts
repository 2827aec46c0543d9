import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { sharedArray } from '../model/memory.js';
import { forTerminal, inert } from '../model/quote.js';

/** What others need of a log. */
export type Logs = Pick<Log, 'logger' | 'descriptor' | 'dropped'>;

const STDOUT = 1;
/** Bytes of lines that are kept while their reader is behind. */
const MOST_WAITING = 1024 * 1024;
const RETRY_MS = 20;
/** How long the end of a process waits for a reader that is behind. */
const LAST_MS = 200;

/**
 * A log of one JSON object a line on standard output, or of text for people, which never makes its
 * writer wait. A line is written at once, so that a process which ends has said its last words.
 * While the reader is behind, lines wait in memory; those for which there is no room, and those
 * that cannot be written, are dropped and counted.
 */
export class Log {
  readonly logger: Logger;
  /** Where the lines go; all threads of a process can use the same. */
  readonly descriptor: number;
  dropped = 0;
  /** Lines that could not be written yet; of the first a part may have been. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { logLevel: level, logFormat }: Pick<ServeSettings, 'logLevel' | 'logFormat'>,
    descriptor: number = openStdout(),
  ) {
    this.descriptor = descriptor;
    const isText = logFormat === 'text' || (logFormat === 'auto' && isatty(descriptor));
    const write = (line: string): void => this.#write(isText ? textOf(line) : line);
    this.logger = pino({ level }, { write });
    process.once('exit', () => {
      const until = performance.now() + LAST_MS;
      const never = sharedArray(Int32Array, 1);
      while (!this.#flush() && performance.now() < until) Atomics.wait(never, 0, 0, RETRY_MS);
    });
  }

  #write(line: string): void {
    let rest: Buffer = Buffer.from(line);
    if (this.#waiting.length === 0) rest = this.#put(rest);
    if (rest.length === 0) return;
    if (this.#waitingBytes + rest.length > MOST_WAITING) {
      this.dropped++;
      return;
    }
    this.#waiting.push(rest);
    this.#waitingBytes += rest.length;
    this.#timer ??= setInterval(() => this.#flush(), RETRY_MS).unref();
  }

  /** Writes as much of a line as the descriptor takes, and returns the rest. */
  #put(line: Buffer): Buffer {
    try {
      return line.subarray(writeSync(this.descriptor, line));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return line;
      this.dropped++;
      return line.subarray(line.length);
    }
  }

  /** Writes the waiting lines; returns whether none is left. */
  #flush(): boolean {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const rest = this.#put(first);
      this.#waitingBytes -= first.length - rest.length;
      if (rest.length > 0) {
        this.#waiting[0] = rest;
        return false;
      }
      this.#waiting.shift();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
    return true;
  }
}

/**
 * A line of JSON as people read it. What it says may come from strangers and command a terminal,
 * where `pino-pretty` would show it as it is.
 */
function textOf(line: string): string {
  const { time, level, msg, err, pid: _, hostname: __, ...fields } = JSON.parse(line);
  const name = pino.levels.labels[level]!.toUpperCase().padEnd(5);
  const pairs = Object.entries(fields).map(([key, value]) => {
    const isPlain = typeof value === 'string' && /^[\w./:+-]+$/.test(value);
    return `${key}=${isPlain ? value : inert(JSON.stringify(value))}`;
  });
  const text = [new Date(time).toISOString(), name, msg, ...pairs].join(' ');
  const stack = err === undefined ? '' : `\n${err?.stack ?? inert(JSON.stringify(err))}`;
  return `${forTerminal(text + stack)}\n`;
}

/**
 * A descriptor of standard output whose writes fail instead of waiting for a reader. It is opened
 * again where the system allows that, so that writes of others who have it stay as they are.
 */
function openStdout(): number {
  const status = fstatSync(STDOUT);
  if (status.isFile()) return STDOUT;
  try {
    const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${STDOUT}`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY);
  } catch {
    // sockets cannot be opened again, and not every system has /proc: Node's own handle makes the
    // descriptor non-blocking
    if (status.isSocket() || status.isFIFO()) new Socket({ fd: STDOUT, readable: false }).unref();
    return STDOUT;
  }
}
