import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileState, stateIfAny, stateOf } from './file-state.js';
import { CHECKSUM_SUFFIX, isSnapshotName } from './names.js';
import type { Candidate } from './source.js';

/** Entries that are read at once: the event loop is free between two such batches. */
const ENTRIES_AT_ONCE = 512;
/** Files that are looked at side by side. */
const LOOKS_AT_ONCE = 16;
/** The newest files, one of which is served, are looked at in every listing. */
const NEWEST = 32;
/**
 * Of the other files a listing looks at this many, in turn: a write to one of them may have raised
 * no event.
 */
const OTHERS = 256;
/**
 * File systems tell the time of a change to 2 s at worst: a change that comes later has another
 * time.
 */
const CLOCK_STEP_MS = 2_500;

/** A file of a folder, or a lone one, with its checksum file. */
export interface FileCandidate extends Candidate {
  readonly name: string;
  readonly file: FileState;
  readonly checksum: FileState | undefined;
}

/** Makes a candidate of a file. */
export function candidateOf(
  path: string,
  name: string,
  file: FileState,
  checksum: FileState | undefined,
): FileCandidate {
  const identity = checksum === undefined ? file.identity : `${file.identity}+${checksum.identity}`;
  return { path, name, identity, modifiedAt: file.modifiedAt, file, checksum };
}

/**
 * The candidates of a folder, remembered from one listing to the next: of 100,000 files only the
 * new ones, those that an event named, the newest and some of the others are looked at.
 */
export class Folder {
  readonly #path: string;
  readonly #matches: (name: string) => boolean;
  /** By name; undefined for what is no file. */
  readonly #known = new Map<string, FileCandidate | undefined>();
  #sorted: readonly FileCandidate[] = [];
  /** Names that have a checksum file. */
  #checksums: ReadonlySet<string> = new Set();
  /** Names that events told of since the last listing, and whether there were events at all. */
  readonly #touched = new Set<string>();
  #hasHeard = false;
  /** Whether all files are to be looked at. */
  #isSuspect = true;
  /** The folder's own state, since when it is so, and whether all of its names are known. */
  #seen = { identity: '', inode: '', since: 0, isComplete: false };
  /** How many of the others were looked at in their turn. */
  #turn = 0;

  constructor(path: string, matches: (name: string) => boolean) {
    this.#path = path;
    this.#matches = (name) => isSnapshotName(name) && matches(name);
  }

  /**
   * Hears that the file of this name changed or, without a name, that any may have. Returns whether
   * that matters.
   */
  touch(name: string | undefined): boolean {
    this.#hasHeard = true;
    // Kubernetes switches the link `..data`, which others lead through
    if (name === undefined || name.startsWith('..')) {
      this.#isSuspect = true;
      return true;
    }
    const base = baseOf(name);
    if (this.#matches(base)) this.#touched.add(base);
    return this.#matches(base);
  }

  /**
   * The candidates, the newest first, and of two of the same age the later name. Throws what the
   * system throws.
   */
  async list(): Promise<readonly FileCandidate[]> {
    try {
      const queue = (await this.#namesToLookAt()).values();
      const fresh: FileCandidate[] = [];
      const work = async (): Promise<void> => {
        for (const name of queue) {
          const changed = await this.#look(name);
          if (changed !== undefined) fresh.push(changed);
        }
      };
      await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, work));
      const kept = this.#sorted.filter((one) => this.#known.get(one.name) === one);
      if (fresh.length === 0 && kept.length === this.#sorted.length) return this.#sorted;
      // nearly in order already, which the sort makes use of
      this.#sorted = [...fresh, ...kept].sort(
        (a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? 1 : -1),
      );
      return this.#sorted;
    } catch (error) {
      // the names that events told of are lost, and what was looked at is in no order
      this.#known.clear();
      this.#sorted = [];
      this.#seen.isComplete = false;
      throw error;
    }
  }

  async #namesToLookAt(): Promise<ReadonlySet<string>> {
    const { identity, inode } = await stateOf(this.#path);
    const now = performance.now();
    const isChanged = identity !== this.#seen.identity;
    // no event named what came or went: another file may have taken the place of a known one
    const isUnheard = isChanged && !this.#hasHeard;
    const isSuspect = this.#isSuspect || inode !== this.#seen.inode || isUnheard;
    if (isChanged) this.#seen = { identity, inode, since: now, isComplete: false };
    const wanted = new Set(this.#touched);
    this.#touched.clear();
    this.#hasHeard = false;
    this.#isSuspect = false;
    if (!this.#seen.isComplete) {
      for (const name of await this.#readNames()) if (!this.#known.has(name)) wanted.add(name);
      this.#seen.isComplete = now - this.#seen.since > CLOCK_STEP_MS;
    }
    const names = [...this.#known.keys()];
    if (isSuspect) return new Set([...names, ...wanted]);
    for (const { name } of this.#sorted.slice(0, NEWEST)) wanted.add(name);
    for (let i = Math.min(OTHERS, names.length); i > 0; i--) {
      wanted.add(names[this.#turn++ % names.length]!);
    }
    return wanted;
  }

  /** The names that count; those that are gone are forgotten. */
  async #readNames(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    const checksums = new Set<string>();
    for await (const { name } of await opendir(this.#path, { bufferSize: ENTRIES_AT_ONCE })) {
      if (this.#matches(name)) names.add(name);
      else if (name.endsWith(CHECKSUM_SUFFIX)) checksums.add(baseOf(name));
    }
    this.#checksums = checksums;
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    return names;
  }

  /** Looks at one file; returns the candidate where it is another than before. */
  async #look(name: string): Promise<FileCandidate | undefined> {
    const path = join(this.#path, name);
    const [file, checksum] = await Promise.all([
      stateIfAny(path),
      this.#checksums.has(name) ? stateIfAny(`${path}${CHECKSUM_SUFFIX}`) : undefined,
    ]);
    const before = this.#known.get(name);
    const now = file?.kind === 'file' ? candidateOf(path, name, file, checksum) : undefined;
    if (before !== undefined && before.identity === now?.identity) return undefined;
    this.#known.set(name, now);
    return now;
  }
}

/** The name of the snapshot that a file belongs to: of a checksum file that of what it is about. */
function baseOf(name: string): string {
  return name.endsWith(CHECKSUM_SUFFIX) ? name.slice(0, -CHECKSUM_SUFFIX.length) : name;
}
