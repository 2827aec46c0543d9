import { fchmodSync, fchownSync, fstatSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Disk } from './disk.js';
import { headLine, keyLine, postLine, syncedLine } from './line.js';
import type { Contents } from './reading.js';

const PIECE_BYTES = 1024 * 1024;
/** As much as must fit on a disk that was full before it counts as having room again. */
const PROBE_BYTES = 64 * 1024;
/** Of a new journal. */
const MODE = 0o640;

/** An open journal, written at its end. One call at a time. */
export class JournalFile {
  readonly path: string;
  readonly #disk: Disk;
  #fd: number;
  /** Where the next entry goes: behind the last one that is on stable storage. */
  #end: number;
  /** Where the last entry stands that says what is on stable storage, with its end. */
  #markedTo = 0;
  /** Whether the file has its name on stable storage. */
  #isNamed = false;
  #isDoubtful = false;

  constructor(disk: Disk, path: string, fd: number, end: number) {
    this.#disk = disk;
    this.path = path;
    this.#fd = fd;
    this.#end = end;
  }

  get bytes(): number {
    return this.#end;
  }

  /**
   * Whether a flush has failed. The system may take what it could not write for written, so that a
   * later flush says nothing: only a new file can be relied on.
   */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** What its name stands for, as far as the system tells: this file, none, or another one. */
  get place(): 'here' | 'gone' | 'taken' {
    try {
      const { dev, ino } = fstatSync(this.#fd);
      const named = statSync(this.path, { throwIfNoEntry: false });
      if (named === undefined) return 'gone';
      return named.dev === dev && named.ino === ino ? 'here' : 'taken';
    } catch {
      return 'here';
    }
  }

  /** Resolves when the lines are on stable storage. After a rejection {@link restore} is due. */
  async append(lines: string): Promise<void> {
    const bytes = Buffer.from(this.#mark() + lines);
    await this.#disk.write(this.#fd, bytes, this.#end);
    await this.#flushed(() => this.#disk.syncData(this.#fd));
    this.#end += bytes.length;
  }

  /**
   * Writes down that all of the file is on stable storage, so that damage can be told from a write
   * that was cut short. That entry itself is not waited for.
   */
  async mark(): Promise<void> {
    const bytes = Buffer.from(this.#mark());
    await this.#disk.write(this.#fd, bytes, this.#end);
    this.#end = this.#markedTo = this.#end + bytes.length;
  }

  /**
   * Removes what a failed write has left behind the last entry, and has the file and its name on
   * stable storage. Due before anything else.
   */
  async restore(): Promise<void> {
    await this.#disk.truncate(this.#fd, this.#end);
    await this.#flushed(async () => {
      await this.#disk.sync(this.#fd);
      if (!this.#isNamed) this.#disk.syncFolder(dirname(this.path));
    });
    this.#isNamed = true;
  }

  /** Writes once more what stands from `from` on, for a system that may take it for written. */
  async repeat(from: number): Promise<void> {
    const bytes = Buffer.alloc(this.#end - from);
    for (let done = 0; done < bytes.length; ) {
      done += readSync(this.#fd, bytes, done, bytes.length - done, from + done);
    }
    await this.#disk.write(this.#fd, bytes, from);
  }

  /** Rejects while the disk has no room. */
  async probe(): Promise<void> {
    try {
      await this.#disk.write(this.#fd, new Uint8Array(PROBE_BYTES), this.#end);
      await this.#flushed(() => this.#disk.syncData(this.#fd));
    } finally {
      await this.restore();
    }
  }

  /** Lets a draft take the place of the file. {@link restore} is due before anything else. */
  adopt(draft: Draft): void {
    this.#disk.rename(draft.path, this.path);
    this.#disk.close(this.#fd);
    this.#fd = draft.fd;
    this.#end = this.#markedTo = draft.end;
    this.#isNamed = false;
    this.#isDoubtful = false;
  }

  close(): void {
    this.#disk.close(this.#fd);
  }

  async #flushed(flush: () => Promise<void>): Promise<void> {
    try {
      await flush();
    } catch (error) {
      this.#isDoubtful = true;
      throw error;
    }
  }

  #mark(): string {
    return this.#markedTo === this.#end ? '' : syncedLine(this.#end);
  }
}

/** A file that is to take the place of a journal. */
export class Draft {
  readonly path: string;
  readonly fd: number;
  readonly #disk: Disk;
  #end = 0;

  /** Begins a draft for the journal of this path. Throws what the system throws. */
  constructor(disk: Disk, journalPath: string) {
    this.#disk = disk;
    // only the owner of the journal makes one, so that there is never another of this name
    this.path = `${journalPath}.new`;
    this.fd = disk.open(this.path, 'w+', MODE);
    const replaced = statSync(journalPath, { throwIfNoEntry: false });
    if (replaced === undefined) return;
    const { uid, gid, mode } = replaced;
    try {
      // root may do this work for the user of the service
      fchownSync(this.fd, uid, gid);
    } catch {
      // others make files of their own only
    }
    fchmodSync(this.fd, mode & 0o777);
  }

  get end(): number {
    return this.#end;
  }

  /** Writes the entries that are kept, between two heads, and has them on stable storage. */
  async keep(contents: Contents): Promise<void> {
    const { posts, keys } = contents;
    const head = headLine({ ...contents, posts: posts.length, keys: keys.length });
    let text = head;
    for (const post of posts) {
      text += postLine(post);
      if (text.length > PIECE_BYTES) text = await this.#put(text);
    }
    for (const key of keys) {
      text += keyLine(key);
      if (text.length > PIECE_BYTES) text = await this.#put(text);
    }
    await this.#put(text + head);
    await this.#disk.sync(this.fd);
  }

  /** Adds entries behind those that are kept, and has them on stable storage. */
  async append(lines: string): Promise<void> {
    await this.#put(lines);
    await this.#put(syncedLine(this.#end));
    await this.#disk.sync(this.fd);
  }

  discard(): void {
    this.#disk.close(this.fd);
    this.#disk.remove(this.path);
  }

  async #put(text: string): Promise<''> {
    const bytes = Buffer.from(text);
    await this.#disk.write(this.fd, bytes, this.#end);
    this.#end += bytes.length;
    return '';
  }
}
