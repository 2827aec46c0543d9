import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Turns } from './address-turns.js';
import { type Ending, MediaUnavailable } from './folder.js';

/** What the process that decodes is told: paths, and how many pixels an image may have. */
export interface DecodeJob {
  readonly input: string;
  readonly output: string;
  readonly maxPixels: number;
}

/** What it answers: a new image was written, this one is not taken, or the system failed. */
export type Decoded =
  | {
      readonly kind: 'image';
      readonly ending: Ending;
      readonly bytes: number;
      readonly sha256: string;
    }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'failed'; readonly code: string };

/** What the process says: that it has begun a job, and later what it answers. */
export type DecodeReply = { readonly kind: 'taken' } | Decoded;

/** Decodes images in a process of its own, one at a time, each address in its turn. */
export interface Decoder {
  /** Rejects with a MediaUnavailable when it could not be tried. */
  decode(job: DecodeJob, address: string): Promise<Exclude<Decoded, { kind: 'failed' }>>;
  /** Ends the process. */
  close(): void;
}

export interface DecoderLimits extends TurnLimits {
  /** Milliseconds that an image may take. */
  readonly patienceMs: number;
  /** Milliseconds after which a process without work ends, and gives its memory back. */
  readonly idleMs: number;
}

/** A connection on which nothing moves is closed after 73 s: waiting and decoding end before. */
const LIMITS: DecoderLimits = {
  patienceMs: 10_000,
  idleMs: 60_000,
  maxWaiting: 64,
  maxOfAddress: 2,
  maxWaitMs: 30_000,
};
/** What the process may take to start. */
const START_MS = 20_000;
const ENTRY = fileURLToPath(new URL('./decode-process.js', import.meta.url));

/** Makes a decoder, which starts its process with the first image. */
export function createDecoder(given: Partial<DecoderLimits> = {}): Decoder {
  const limits = { ...LIMITS, ...given };
  const { patienceMs, idleMs } = limits;
  const turns = new ImageTurns(limits);
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;

  function rest(): void {
    clearTimeout(idle);
    if (child !== undefined && isAlive(child)) child.disconnect();
    child = undefined;
  }

  async function work(job: DecodeJob): Promise<Decoded> {
    clearTimeout(idle);
    try {
      let decoded = child !== undefined && isAlive(child) ? await tryWith(child, job) : undefined;
      if (decoded !== undefined) return decoded;
      // there was no process, or it died since the last image
      child = await startProcess();
      decoded = await tryWith(child, job);
      if (decoded !== undefined) return decoded;
      throw new MediaUnavailable('the process that decodes images takes none');
    } finally {
      idle = setTimeout(rest, idleMs).unref();
    }
  }

  /** What a process makes of a job; undefined when it was gone before it had begun. */
  async function tryWith(worker: ChildProcess, job: DecodeJob): Promise<Decoded | undefined> {
    hold(worker);
    const aborting = new AbortController();
    const { signal } = aborting;
    let isTaken = false;
    let hear = (_reply: DecodeReply): void => {};
    const answered = new Promise<Decoded>((resolve) => {
      hear = (reply) => {
        if (reply.kind === 'taken') isTaken = true;
        else resolve(reply);
      };
    });
    worker.on('message', hear);
    const ended = once(worker, 'exit', { signal }).then((): Decoded | undefined => {
      return isTaken ? { kind: 'refused', text: 'The image could not be decoded.' } : undefined;
    });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      worker.kill('SIGKILL');
    }, patienceMs);
    try {
      const isGiven = await new Promise<boolean>((resolve) => {
        worker.send(job, (error) => resolve(error === null));
      });
      if (!isGiven) return undefined;
      const decoded = await Promise.race([answered, ended]);
      if (!isLate) return decoded;
      // it may have answered while it was killed: the next image is none for it
      await ended;
      const text = `The image took more than ${patienceMs / 1000} seconds to decode.`;
      return { kind: 'refused', text };
    } finally {
      clearTimeout(timer);
      aborting.abort();
      worker.off('message', hear);
      await Promise.allSettled([ended]);
      letGo(worker);
    }
  }

  return {
    async decode(job, address) {
      await turns.next(address);
      try {
        const decoded = await work(job);
        if (decoded.kind !== 'failed') return decoded;
        throw new MediaUnavailable(`images cannot be decoded (${decoded.code})`);
      } finally {
        turns.end();
      }
    },
    close: rest,
  };
}

/** Starts the process and waits until its library is loaded. */
async function startProcess(): Promise<ChildProcess> {
  // what decodes a stranger's file knows no secret of the service
  const known = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYPOST_'));
  const child = fork(ENTRY, [], {
    env: Object.fromEntries(known),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.on('error', () => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  try {
    await Promise.race([once(child, 'message'), failed(child)]);
  } finally {
    clearTimeout(timer);
  }
  return child;
}

async function failed(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit');
  throw new MediaUnavailable(`the process that decodes images ended with ${signal ?? code}`);
}

function isAlive({ connected, exitCode, signalCode }: ChildProcess): boolean {
  return connected && exitCode === null && signalCode === null;
}

/** Keeps this process alive while the other one works. */
function hold(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}

function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

/** How many may wait for a turn, and how long. */
export interface TurnLimits {
  /** All of them together. */
  readonly maxWaiting: number;
  /** Of one address, while others wait. */
  readonly maxOfAddress: number;
  readonly maxWaitMs: number;
}

/** One that waits. */
interface Waiting {
  begin(): void;
  turnOut(reason: string): void;
}

/** Lets one begin at a time, each address in its turn. */
export class ImageTurns {
  readonly #limits: TurnLimits;
  readonly #waiting: Turns<Waiting>;
  #isTaken = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#waiting = new Turns(limits.maxWaiting);
  }

  /**
   * Resolves when it is the turn of one more of an address, until {@link end}. Rejects with a
   * MediaUnavailable where too many wait, or the turn does not come in time.
   */
  async next(address: string): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    const own = this.#waiting.of(address);
    if (own >= this.#limits.maxOfAddress && own < this.#waiting.size) {
      throw new MediaUnavailable('too many images of this address are waiting');
    }
    await new Promise<void>((resolve, reject) => {
      const turnOut = (reason: string): void => {
        clearTimeout(timer);
        this.#waiting.drop((one) => one === waiting);
        reject(new MediaUnavailable(reason));
      };
      const timer = setTimeout(turnOut, this.#limits.maxWaitMs, 'images wait too long');
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiting: Waiting = { begin, turnOut };
      const other = this.#waiting.add(address, waiting);
      const whose = other === waiting ? 'too many images' : 'images of other addresses';
      other?.turnOut(`${whose} are waiting`);
    });
  }

  /** Ends a turn: that of the next address begins. */
  end(): void {
    const next = this.#waiting.next();
    this.#isTaken = next !== undefined;
    next?.begin();
  }
}
