import type { Candidate } from './source.js';

/** A file at an address, as it was when looked at. */
export interface RemoteFile extends Candidate {
  /** Reads its checksum file, where there is one. */
  readonly checksum?: () => Promise<string>;
}

/** A part of a file that is on its way. */
export interface RemotePart {
  /** The byte that it begins with: 0 where the server sends all of it again. */
  readonly from: number;
  /** Bytes of the whole file; undefined where the server does not say. */
  readonly size: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What has files: a web server, a bucket. */
export interface Store {
  /** What it is called in messages. */
  readonly name: string;
  /** The files that may be served, the newest first. Throws an InputError where there is none. */
  list(signal: AbortSignal): Promise<readonly RemoteFile[]>;
  /**
   * Begins to read a file behind its first `from` bytes. Throws {@link Changed} where it is another
   * than the one listed. The signal ends it.
   */
  read(file: RemoteFile, from: number, signal: AbortSignal): Promise<RemotePart>;
  /** Gives connections back that wait for the next question. */
  close?(): void;
}

/** The file at an address is another by now than the one that was listed. */
export class Changed extends Error {
  constructor(file: RemoteFile) {
    super(`${file.path}: it changed while it was read`);
  }
}
