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
  /** Names whose candidate is another than the sorted ones have. */
  readonly #changed = new Set<string>();
  /** Names that have a checksum file. */
  #checksums: ReadonlySet<string> = new Set();
  /** Names that events told of since the last listing, and whether there were events at all. */
  readonly #touched = new Set<string>();
  #hasHeard = false;
  /** Whether all files are to be looked at. */
  #isSuspect = true;
  /** The folder's own state, since when it is so, and whether all of its names are known. */
  #seen = { identity: '', inode: '', since: 0, isComplete: false };
  #turn: Iterator<string> = [].values();

  constructor(path: string, matches: (name: string) => boolean) {
    this.#path = path;
    this.#matches = matches;
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
    if (this.#counts(base)) this.#touched.add(base);
    return this.#counts(base);
  }

  /**
   * The candidates, the newest first, and of two of the same age the later name. Throws what the
   * system throws.
   */
  async list(): Promise<readonly FileCandidate[]> {
    try {
      const names = await this.#namesToLookAt();
      const queue = names.values();
      const work = async (): Promise<void> => {
        for (const name of queue) await this.#look(name);
      };
      await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, work));
      this.#sort();
      return this.#sorted;
    } catch (error) {
      // the names that events told of are lost, and new ones that could not be looked at
      this.#isSuspect = true;
      this.#seen.isComplete = false;
      throw error;
    }
  }

  #counts(name: string): boolean {
    return isSnapshotName(name) && this.#matches(name);
  }

  async #namesToLookAt(): Promise<ReadonlySet<string>> {
    const { identity, inode } = await stateOf(this.#path);
    const now = performance.now();
    const isChanged = identity !== this.#seen.identity;
    const isOther = inode !== this.#seen.inode;
    // no event named what came or went: another file may have taken the place of a known one
    const isSuspect = this.#isSuspect || isOther || (isChanged && !this.#hasHeard);
    if (isChanged) this.#seen = { identity, inode, since: now, isComplete: false };
    const wanted = new Set(this.#touched);
    this.#touched.clear();
    this.#hasHeard = false;
    this.#isSuspect = false;
    if (!this.#seen.isComplete) {
      for (const name of await this.#readNames()) wanted.add(name);
      this.#seen.isComplete = now - this.#seen.since > CLOCK_STEP_MS;
    }
    if (isSuspect) return new Set([...this.#known.keys(), ...wanted]);
    for (const { name } of this.#sorted.slice(0, NEWEST)) wanted.add(name);
    const others = Math.min(OTHERS, this.#known.size);
    for (let i = 0; i < others; i++) wanted.add(this.#nextInTurn());
    return wanted;
  }

  /**
   * Forgets what is gone. Returns the names that are new, and those whose checksum file came or
   * went.
   */
  async #readNames(): Promise<readonly string[]> {
    const names = new Set<string>();
    const checksums = new Set<string>();
    for await (const { name } of await opendir(this.#path, { bufferSize: ENTRIES_AT_ONCE })) {
      if (this.#counts(name)) names.add(name);
      else if (name.endsWith(CHECKSUM_SUFFIX)) checksums.add(baseOf(name));
    }
    this.#checksums = checksums;
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    return [...names].filter((name) => {
      const isKnown = this.#known.has(name);
      return !isKnown || checksums.has(name) !== (this.#known.get(name)?.checksum !== undefined);
    });
  }

  /** The known names one after the other, again and again. */
  #nextInTurn(): string {
    let step = this.#turn.next();
    if (step.done === true) {
      this.#turn = this.#known.keys();
      step = this.#turn.next();
    }
    return step.value as string;
  }

  /** Looks at one file, and remembers whether it is another than before. */
  async #look(name: string): Promise<void> {
    const path = join(this.#path, name);
    const [file, checksum] = await Promise.all([
      stateIfAny(path),
      this.#checksums.has(name) ? stateIfAny(`${path}${CHECKSUM_SUFFIX}`) : undefined,
    ]);
    const before = this.#known.get(name);
    const now = file?.kind === 'file' ? candidateOf(path, name, file, checksum) : undefined;
    if (before?.identity === now?.identity && this.#known.has(name)) return;
    this.#known.set(name, now);
    this.#changed.add(name);
  }

  #sort(): void {
    const kept = this.#sorted.filter((one) => this.#known.get(one.name) === one);
    const fresh = [...this.#changed].flatMap((name) => this.#known.get(name) ?? []);
    this.#changed.clear();
    if (fresh.length === 0 && kept.length === this.#sorted.length) return;
    // nearly in order already, which the sort makes use of
    this.#sorted = [...fresh, ...kept].sort(
      (a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? 1 : -1),
    );
  }
}

/** The name of the snapshot that a file belongs to: of a checksum file that of what it is about. */
function baseOf(name: string): string {
  return name.endsWith(CHECKSUM_SUFFIX) ? name.slice(0, -CHECKSUM_SUFFIX.length) : name;
}
