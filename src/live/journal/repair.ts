import { closeSync, existsSync, fsyncSync, openSync, realpathSync, writeSync } from 'node:fs';
import { InputError } from '../../errors.js';
import { DISK } from './disk.js';
import type { Post, SpentKey } from './journal.js';
import { type Entry, readLine } from './line.js';
import { lockJournal } from './lock.js';
import { writeJournal } from './open.js';
import { type Contents, linesOf, readJournal } from './reading.js';

/** No line of a post has fewer bytes. */
const LEAST_POST_BYTES = 200;
const LINE_END = Buffer.from('\n');

export interface Repair {
  /** Posts that the journal holds now. */
  readonly posts: number;
  /** Lines that were set aside, and the file that has them. */
  readonly lines: number;
  readonly setAside: string;
  readonly nextSequence: number;
  readonly nextId: number;
}

/** Numbers that are above all that were given, where the journal does not tell any more. */
export interface Numbers {
  readonly nextSequence?: number | undefined;
  readonly nextId?: number | undefined;
}

/**
 * Writes a damaged journal anew out of its good lines, and the others into a file beside it.
 * Returns undefined, and changes nothing, when nothing that was on stable storage is damaged. The
 * numbers that posts in the damaged lines may have had are not given again.
 *
 * Throws a JournalLocked while a process owns the journal, and an InputError when both of its heads
 * are damaged and `numbers` does not take their place.
 */
export async function repairJournal(
  path: string,
  numbers: Numbers = {},
  now: Date = new Date(),
): Promise<Repair | undefined> {
  if (!existsSync(path)) throw new InputError(`${path}: there is no such file`);
  const target = realpathSync(path);
  const lock = await lockJournal(target);
  try {
    const fd = openSync(target, 'r');
    const salvage = new Salvage();
    try {
      if (!(await readJournal(fd)).isDamaged) return undefined;
      for await (const lines of linesOf(fd)) {
        for (const { bytes, isEnded } of lines) {
          salvage.take(isEnded ? readLine(bytes) : 'is cut short', bytes);
        }
      }
    } finally {
      closeSync(fd);
    }
    const contents = salvage.contents(path, numbers);
    const setAside = `${target}.damaged-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
    writeAside(setAside, salvage.bad);
    (await writeJournal(DISK, target, contents)).close();
    const { posts, nextSequence, nextId } = contents;
    return { posts: posts.length, lines: salvage.bad.length, setAside, nextSequence, nextId };
  } finally {
    lock.release();
  }
}

/** Takes the lines of a damaged file and keeps what is good in them, wherever it stands. */
class Salvage {
  readonly bad: Buffer[] = [];
  readonly #posts = new Map<number, Post>();
  readonly #keys = new Map<string, SpentKey>();
  #hasHead = false;
  #nextSequence = 1;
  #nextId = 1;
  #lastTime = 0;
  #foreign = 0;
  /** Bytes of bad lines since the last post. */
  #badBytes = 0;

  take(entry: Entry | string, bytes: Buffer): void {
    if (typeof entry === 'string') {
      this.bad.push(bytes);
      this.#badBytes += bytes.length;
      return;
    }
    switch (entry.kind) {
      case 'post': {
        const { post } = entry;
        // a bad line said that more numbers were passed over than posts can be missing
        const isPassed = post.sequence - this.#nextSequence > postsIn(this.#badBytes);
        if (this.#hasHead && isPassed) this.#foreign = Math.max(this.#foreign, post.sequence - 1);
        this.#badBytes = 0;
        // of a sequence that comes twice, people decide which it was
        if (this.#posts.has(post.sequence)) this.bad.push(bytes);
        else this.#posts.set(post.sequence, post);
        this.#raise(post.sequence + 1, Math.max(post.point.id, post.movedFrom ?? 0) + 1);
        this.#lastTime = Math.max(this.#lastTime, post.point.createdAt.micros);
        return;
      }
      case 'key':
        this.#keys.set(entry.key.name, entry.key);
        return;
      case 'head':
        this.#hasHead = true;
        this.#raise(entry.nextSequence, entry.nextId);
        this.#lastTime = Math.max(this.#lastTime, entry.lastTime);
        this.#foreign = Math.max(this.#foreign, entry.foreign);
        return;
      case 'next':
        this.#raise(entry.nextSequence, 1);
        this.#foreign = Math.max(this.#foreign, entry.foreign);
        return;
      default:
      // a mark says nothing of the new file
    }
  }

  contents(path: string, { nextSequence, nextId }: Numbers): Contents {
    if (!this.#hasHead && (nextSequence === undefined || nextId === undefined)) {
      throw new InputError(
        `${path}: both heads are damaged, so that nothing says which numbers were given: name ones above all of them with --next-sequence and --next-id`,
      );
    }
    const lost = postsIn(this.bad.reduce((sum, bytes) => sum + bytes.length, 0));
    return {
      posts: [...this.#posts.values()].sort((a, b) => a.sequence - b.sequence),
      keys: [...this.#keys.values()],
      nextSequence: Math.max(this.#nextSequence + lost, nextSequence ?? 1),
      nextId: Math.max(this.#nextId + lost, nextId ?? 1),
      lastTime: this.#lastTime,
      foreign: this.#foreign,
    };
  }

  #raise(nextSequence: number, nextId: number): void {
    this.#nextSequence = Math.max(this.#nextSequence, nextSequence);
    this.#nextId = Math.max(this.#nextId, nextId);
  }
}

/** How many posts at most so many damaged bytes were. */
function postsIn(bytes: number): number {
  return Math.ceil(bytes / LEAST_POST_BYTES);
}

/** Has the lines on stable storage before the journal is without them. */
function writeAside(path: string, lines: readonly Buffer[]): void {
  const fd = openSync(path, 'wx', 0o640);
  try {
    for (const line of lines) {
      const bytes = Buffer.concat([line, LINE_END]);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
