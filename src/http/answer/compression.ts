import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { remembered } from '../request/negotiation.js';

export type Coding = 'br' | 'gzip';

/** The coding that an Accept-Encoding header prefers; undefined where it wants none of ours. */
export type CodingOf = (acceptEncoding: string | undefined) => Coding | undefined;

/** A body below this size hardly gets smaller, and fits one packet anyway. */
export const LEAST_COMPRESSED_BYTES = 1024;
/** Bodies under way at once: Node has four threads for all the threads that serve. */
const MAX_UNDER_WAY = 2;
/** Bytes that are handed out at a time; each time costs a change of threads. */
const CHUNK_BYTES = 64 * 1024;

const BROTLI = {
  chunkSize: CHUNK_BYTES,
  params: {
    // 5 takes twice as long for 6 % less; a window of 256 KiB holds most pages
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: 18,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};
// 6, the usual level, takes four times as long for 7 % less
const GZIP = { chunkSize: CHUNK_BYTES, level: 4 };

/** In the service's own order of preference, which counts among those of equal weight. */
const OFFERED = ['br', 'gzip', 'identity'];

/** Makes the reader of Accept-Encoding headers where these are offered, the preferred ones first. */
export function createCodingOf(offered: readonly string[] = OFFERED): CodingOf {
  const codingOf = remembered((header) => negotiate(header, offered));
  return (header) => {
    const coding = header ? codingOf(header) : 'identity';
    return coding === 'identity' ? undefined : coding;
  };
}

export class Compression {
  readonly #maxUnderWay: number;
  #underWay = 0;

  constructor(maxUnderWay: number = MAX_UNDER_WAY) {
    this.#maxUnderWay = maxUnderWay;
  }

  /**
   * Compresses a body and calls `done` later, with undefined where that failed. Returns false, and
   * calls nothing, while enough others are under way.
   */
  start(
    coding: Coding,
    body: Buffer,
    done: (compressed: Buffer<ArrayBuffer> | undefined) => void,
  ): boolean {
    if (this.#underWay >= this.#maxUnderWay) return false;
    this.#underWay++;
    const finish = (error: Error | null, compressed: Buffer): void => {
      this.#underWay--;
      done(error === null ? (compressed as Buffer<ArrayBuffer>) : undefined);
    };
    if (coding === 'br') brotliCompress(body, BROTLI, finish);
    else gzip(body, GZIP, finish);
    return true;
  }
}

/** The package's types do not know the second parameter. */
interface EncodingNegotiator {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
}

function negotiate(header: string, offered: readonly string[]): Coding | 'identity' {
  const headers = { 'accept-encoding': header };
  const negotiator: EncodingNegotiator = new Negotiator({ headers });
  const [coding] = negotiator.encodings(offered, { preferred: offered });
  // where nothing is accepted, the body as it is serves better than an error
  return coding === 'br' || coding === 'gzip' ? coding : 'identity';
}
