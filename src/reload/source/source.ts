import type { Progress } from '../../formats/snapshot.js';

/** What programs add to the names of unfinished files and of their own copies. */
const UNFINISHED =
  /~$|\.(?:te?mp|part|partial|filepart|(?:cr)?download|incomplete|uploading|sw[opx]|lock|bak)$/i;
/** Names of checksums and signatures of other files. */
const ABOUT_FILES =
  /(?:\.(?:md5|sha1|sha256|sha512|asc|sig|minisig)|^(?:md5|sha\d+)sums(?:\.txt)?)$/i;
/** What files beside a journal add to its name: SQLite's, and what was put aside. */
const BESIDE_JOURNAL = '(?:\\.new)?(?:-journal|\\.aside-\\d+)?$';
const JOURNALS = new RegExp(`\\.journal${BESIDE_JOURNAL}`, 'i');
const FOR_PEOPLE = /^(?:readme|licen[cs]e|changelog|notice)(?:\.|$)|\.(?:md|log)$/i;

/** Whether a file of this name in a folder may be a snapshot. */
export function isSnapshotName(name: string): boolean {
  const isHidden = name.startsWith('.') || name.startsWith('#');
  const others = [UNFINISHED, ABOUT_FILES, JOURNALS, FOR_PEOPLE];
  return !isHidden && !others.some((one) => one.test(name));
}

/** Whether a file of this name is the journal, or one of the files beside it. */
export function belongsTo(journal: string, name: string): boolean {
  if (!name.startsWith(journal)) return false;
  return new RegExp(`^${BESIDE_JOURNAL}`).test(name.slice(journal.length));
}

/** Whether a name is a pattern: `*` stands for any characters, `?` for one. */
export function isPattern(name: string): boolean {
  return /[*?]/.test(name);
}

/** Tests names by a pattern; every character but `*` and `?` stands for itself. */
export function matcherOf(pattern: string): (name: string) => boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name);
}

/** Whether a snapshot is named by an address rather than a path. */
export function isAddress(snapshot: string): boolean {
  return /^(?:https?|s3):\/\//i.test(snapshot);
}

/** A snapshot that could be served, as it was when looked at. */
export interface Candidate {
  /** What messages call it. */
  readonly path: string;
  /** Differs whenever file or checksum file was written, replaced or got other permissions. */
  readonly own: string;
  /** Differs whenever `own` does, or the companion file changed. */
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Why the source could not be listed: then there is no file. */
  readonly problem?: unknown;
}

/** A candidate as a local file. */
export interface Opened {
  readonly path: string;
  /** {@link marksOf} the file as it was listed; absent of a copy, which nobody else writes. */
  readonly marks?: string;
  /** The text of the checksum file, where there is one. */
  readonly checksum?: string | undefined;
  /** What became of the file since it was listed. A `replaced` one was still read whole. */
  state(): Promise<'same' | 'replaced' | 'written'>;
  /** Removes what `open` made, once the file has been read. */
  close?(): Promise<void>;
}

export interface Source {
  readonly name: string;
  /** Whether a look waits for a server, which is no work for this machine. */
  readonly isRemote: boolean;
  /**
   * What there is to serve, the newest first. Throws an InputError when there is no candidate, and
   * what the system throws when it cannot be looked at.
   */
  list(): Promise<readonly Candidate[]>;
  /** Makes a candidate of the last listing a local file. */
  open(candidate: Candidate, tell: Progress): Promise<Opened>;
  /**
   * Calls `onChange` whenever there may be something new, more often rather than too rarely;
   * returns what ends it.
   */
  watch(onChange: () => void): () => Promise<void>;
}

/** A file at an address, as it was when looked at. */
export interface RemoteFile extends Omit<Candidate, 'identity'> {
  /** Reads the checksum file, where there is one. */
  readonly checksum?: (signal: AbortSignal) => Promise<string>;
}

/** A part of a file that is on its way. */
interface RemotePart {
  /** The byte that it begins with: 0 where the server sends all of it again. */
  readonly from: number;
  /** Bytes of the whole file; undefined where the server does not say. */
  readonly size: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A web server or a bucket. */
export interface Store {
  readonly name: string;
  /** The files that may be served, the newest first. Throws an InputError where there is none. */
  list(signal: AbortSignal): Promise<readonly RemoteFile[]>;
  /**
   * Begins to read a file behind its first `from` bytes. Throws {@link Changed} where it is another
   * than the one listed. The signal ends it.
   */
  read(file: RemoteFile, from: number, signal: AbortSignal): Promise<RemotePart>;
}

/** The most bytes that are read of a checksum file, which may list many files. */
const MAX_CHECKSUM_BYTES = 64 * 1024;

/** Reads {@link MAX_CHECKSUM_BYTES} of a text, or a chunk more. */
export async function startOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_CHECKSUM_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}

/** The file at an address is another by now than the one that was listed. */
export class Changed extends Error {
  constructor(file: RemoteFile) {
    super(`${file.path}: it changed while it was read`);
  }
}
