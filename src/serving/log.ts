import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import type { ServeSettings } from '../cli/settings/values.js';
import { sharedArray } from '../model/memory.js';
import { cut, forTerminal, inert } from '../model/quote.js';

export type Logs = Pick<Log, 'logger' | 'descriptor' | 'dropped'>;

const STDOUT = 1;
/** Bytes of lines that wait in memory. */
const MOST_WAITING = 1024 * 1024;
/**
 * Characters of the address of a request in a line. A pipe takes 4,096 bytes (PIPE_BUF) in one
 * piece; between the pieces of a longer line there may be lines of other threads. A character takes
 * two bytes where JSON escapes it, and the rest of a line 400, or 2,000 with an error.
 */
const MOST_URL = 1_000;
const RETRY_MS = 20;
/** How long the end of a process waits for a reader that is behind. */
const LAST_MS = 200;

/**
 * A log on standard output, one JSON object a line or text for people, which never makes its writer
 * wait. A line is written at once, so that nothing is missing when the process ends. While the
 * reader is behind, lines wait in memory; those that do not fit, or cannot be written, are dropped
 * and counted.
 */
export class Log {
  readonly logger: Logger;
  /** Shared by all threads of a process. */
  readonly descriptor: number;
  dropped = 0;
  /** Lines that are not written yet, the first perhaps in part. */
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
    const serializers = { url: (url: string) => cut(url, MOST_URL) };
    this.logger = pino({ level, serializers }, { write });
    process.once('exit', () => {
      const until = performance.now() + LAST_MS;
      const never = sharedArray(Int32Array, 1);
      while (!this.#flush() && performance.now() < until) Atomics.wait(never, 0, 0, RETRY_MS);
    });
  }

  #write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > MOST_WAITING) {
      this.dropped++;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#timer === undefined) this.#flush();
  }

  /** Writes the waiting lines, again where some are left. Returns whether none is. */
  #flush(): boolean {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      let written = first.length;
      try {
        written = writeSync(this.descriptor, first);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
          this.#timer ??= setInterval(() => this.#flush(), RETRY_MS).unref();
          return false;
        }
        this.dropped++;
      }
      this.#waitingBytes -= written;
      if (written === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(written);
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
    return true;
  }
}

/**
 * A line of JSON as people read it. Its text may come from strangers and command a terminal, which
 * `pino-pretty` would let it.
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
 * A descriptor of standard output whose writes fail instead of waiting for a reader. Opened again
 * where the system allows that, since other processes may write to the one that is there.
 */
function openStdout(): number {
  const status = fstatSync(STDOUT);
  if (status.isFile()) return STDOUT;
  try {
    const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${STDOUT}`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY);
  } catch {
    // a socket, or a system without /proc: Node's own handle makes the descriptor non-blocking
    if (status.isSocket() || status.isFIFO()) new Socket({ fd: STDOUT, readable: false }).unref();
    return STDOUT;
  }
}
