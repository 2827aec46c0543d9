import { type ExecFileException, execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Turns } from '../../model/turns.js';
import { type Ending, ImagesCrowded, MediaUnavailable } from './folder.js';

export interface DecodeJob {
  readonly input: string;
  readonly output: string;
  readonly maxPixels: number;
}

/** A new image was written, this one is not taken, or the system failed. */
export type Decoded =
  | {
      readonly kind: 'image';
      readonly ending: Ending;
      readonly bytes: number;
      readonly sha256: string;
    }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'failed'; readonly code: string };

/** Decodes images, one at a time, each address in its turn, and each in a process of its own. */
export interface Decoder {
  /** Rejects with a MediaUnavailable when it could not be tried. */
  decode(job: DecodeJob, address: string): Promise<Exclude<Decoded, { kind: 'failed' }>>;
}

/** A connection on which nothing moves is closed after 73 s: waiting and decoding end before. */
const LIMITS: TurnLimits = { maxWaiting: 64, maxOfAddress: 2, maxWaitMs: 30_000 };
const ENTRY = fileURLToPath(new URL('./decode-process.js', import.meta.url));
const run = promisify(execFile);
/** Environment variables that the process gets. */
const HARMLESS = /^(?:PATH|LD_\w+|MALLOC_\w+|NODE_OPTIONS)$/i;

/** An image may take `patienceMs`, of which the start of its process takes some 100. */
export function createDecoder(patienceMs: number, limits?: TurnLimits): Decoder {
  const inTurn = createImageTurns(limits);
  return {
    async decode(job, address) {
      const decoded = await inTurn(address, () => decodeAside(job, patienceMs));
      if (decoded.kind !== 'failed') return decoded;
      throw new MediaUnavailable(`images cannot be decoded (${decoded.code})`);
    },
  };
}

async function decodeAside(
  { input, output, maxPixels }: DecodeJob,
  patienceMs: number,
): Promise<Decoded> {
  // the process that decodes a stranger's file knows no secret, such as tokens and passwords
  const known = Object.entries(process.env).filter(([name]) => HARMLESS.test(name));
  const env = Object.fromEntries(known);
  const options = { env, timeout: patienceMs, killSignal: 'SIGKILL' } as const;
  try {
    const { stdout } = await run(process.execPath, [ENTRY, input, output, `${maxPixels}`], options);
    return JSON.parse(stdout);
  } catch (error) {
    const { killed, stdout, signal, code } = error as ExecFileException & { stdout?: string };
    if (killed) {
      const text = `The image took more than ${patienceMs / 1000} seconds to decode.`;
      return { kind: 'refused', text };
    }
    // the process had begun to look at the image
    if (stdout) {
      return { kind: 'refused', text: 'The image could not be decoded.' };
    }
    throw new MediaUnavailable(`the process that decodes images ended with ${signal ?? code}`);
  }
}

interface TurnLimits {
  /** Of all addresses together. */
  readonly maxWaiting: number;
  /** Of one address, while others wait. */
  readonly maxOfAddress: number;
  readonly maxWaitMs: number;
}

type InTurn = <T>(address: string, work: () => Promise<T>) => Promise<T>;

/** Begins the turn of a waiting image, or tells why it must go. */
type Tell = (reason?: string) => void;

/**
 * Does work one at a time, each address in its turn. Rejects with a MediaUnavailable where too many
 * wait, or the turn does not come in time.
 */
export function createImageTurns(limits: TurnLimits = LIMITS): InTurn {
  const { maxWaiting, maxOfAddress, maxWaitMs } = limits;
  const waiting = new Turns<Tell>(maxWaiting);
  let isTaken = false;

  function next(): void {
    const begin = waiting.next();
    isTaken = begin !== undefined;
    begin?.();
  }

  return async (address, work) => {
    const own = waiting.of(address);
    if (own >= maxOfAddress && own < waiting.size) {
      throw new ImagesCrowded('too many images of this address are waiting');
    }
    await new Promise<void>((resolve, reject) => {
      const tell: Tell = (reason) => {
        clearTimeout(timer);
        if (reason === undefined) return resolve();
        waiting.drop((one) => one === tell);
        reject(new ImagesCrowded(reason));
      };
      const timer = setTimeout(tell, maxWaitMs, 'images wait too long');
      const other = waiting.add(address, tell);
      const whose = other === tell ? 'too many images' : 'images of other addresses';
      other?.(`${whose} are waiting`);
      if (!isTaken) next();
    });
    return work().finally(next);
  };
}
