import { fstatSync, readSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { Microseconds } from '../../model/units.js';
import { JournalDamaged, type Post, type SpentKey } from './journal.js';
import { type Entry, type Head, MAX_LINE_BYTES, readLine } from './line.js';

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;
const CHECKSUM_DIGITS = 8;
const MARK_BEGINS = ' {"synced":';
/** Damaged lines that a report names. */
const NAMED = 10;

/** What a journal holds, and how its next entries are numbered. */
export interface Contents {
  /** Posts that are not retired, by sequence. */
  readonly posts: readonly Post[];
  /** Keys of posts that are retired or moved. */
  readonly keys: readonly SpentKey[];
  readonly nextSequence: number;
  readonly nextId: number;
  readonly lastTime: Microseconds;
  /** Watermarks up to this one are those of another journal. */
  readonly foreign: number;
}

/** What was found in a file. */
export interface Reading extends Contents {
  /** Where the next entry belongs: behind the last good line. */
  readonly end: number;
  /** Bytes that the file says were on stable storage. */
  readonly synced: number;
  /** Those of {@link posts} that lie within {@link synced}. */
  readonly settled: number;
  readonly size: number;
  /** The first lines that are not as they should be, with their numbers. */
  readonly problems: readonly string[];
  readonly problemCount: number;
  /**
   * Whether something that was on stable storage is damaged. Otherwise the problems are those of a
   * last write that was never acknowledged.
   */
  readonly isDamaged: boolean;
}

/** A line of a file, without its end. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Where it begins, in bytes. */
  readonly at: number;
  readonly bytes: Buffer;
  /** False for what stands at the end of the file, or is too long, without an end of line. */
  readonly isEnded: boolean;
}

/** Reads a journal that is open, from front to back. */
export async function readJournal(fd: number): Promise<Reading> {
  const intake = new Intake();
  for await (const lines of linesOf(fd)) for (const line of lines) intake.take(line);
  return intake.reading(fstatSync(fd).size);
}

/** Throws for a file that lost something it had on stable storage, with the way out. */
export function requireUndamaged(path: string, { isDamaged, problems }: Reading): void {
  if (!isDamaged) return;
  throw new JournalDamaged(
    `${path}: ${problems[0]}; points that were acknowledged may be affected: bring back the file from a backup, or set the damaged lines aside with waypost journal repair ${path}`,
  );
}

/** The lines of a file, some at a time, with turns of the event loop between. */
export async function* linesOf(fd: number): AsyncGenerator<readonly Line[], void, undefined> {
  let rest = Buffer.alloc(0);
  let at = 0;
  let number = 1;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const size = readSync(fd, chunk, 0, CHUNK_BYTES, at + rest.length);
    const bytes = Buffer.concat([rest, chunk.subarray(0, size)]);
    const lines: Line[] = [];
    let from = 0;
    for (;;) {
      const to = bytes.indexOf(NEWLINE, from);
      if (to < 0) break;
      lines.push({ number, at: at + from, bytes: bytes.subarray(from, to), isEnded: true });
      number++;
      from = to + 1;
    }
    rest = bytes.subarray(from);
    at += from;
    if (rest.length > MAX_LINE_BYTES || (size === 0 && rest.length > 0)) {
      lines.push({ number, at, bytes: rest, isEnded: false });
      at += rest.length;
      rest = Buffer.alloc(0);
    }
    yield lines;
    if (size === 0) return;
    await turn();
  }
}

/** Takes the lines of a file one by one and keeps what they add up to. */
class Intake {
  readonly #posts: Post[] = [];
  readonly #keys: SpentKey[] = [];
  readonly #problems: string[] = [];
  #head: Head | undefined;
  /** Whether the kept entries are complete: the head stands again behind them. */
  #isHeadClosed = false;
  #problemCount = 0;
  /** Whether a line behind a bad one shows that both were on stable storage. */
  #isDamaged = false;
  #nextSequence = 1;
  #nextId = 1;
  #lastTime: Microseconds = 0;
  #foreign = 0;
  #end = 0;
  #synced = 0;
  #settled = 0;

  take(line: Line): void {
    const entry = line.isEnded ? readLine(line.bytes) : 'is cut short';
    if (this.#problemCount === 0) {
      const problem = typeof entry === 'string' ? entry : this.#place(entry, line.at);
      if (problem === undefined) this.#end = line.at + line.bytes.length + 1;
      else this.#complain(line, problem);
    } else if (typeof entry === 'string') {
      this.#complain(line, entry);
    } else if (entry.kind === 'synced' || entry.kind === 'head') {
      this.#isDamaged = true;
    }
    if (typeof entry === 'string' && hidesMark(line.bytes)) this.#isDamaged = true;
  }

  reading(size: number): Reading {
    // a file gets its name when its kept entries are on stable storage
    if (!this.#isHeadClosed && this.#problemCount === 0) {
      const kept = this.#head === undefined ? 0 : this.#head.posts + this.#head.keys;
      const found = this.#posts.length + this.#keys.length;
      this.#problemCount = 1;
      this.#problems.push(
        size === 0
          ? 'the file is empty; a journal never is'
          : `the file ends behind ${found} of ${kept} kept entries`,
      );
    }
    return {
      posts: this.#posts,
      keys: this.#keys,
      nextSequence: this.#nextSequence,
      nextId: this.#nextId,
      lastTime: this.#lastTime,
      foreign: this.#foreign,
      end: this.#end,
      synced: this.#synced,
      settled: this.#settled,
      size,
      problems: this.#problems,
      problemCount: this.#problemCount,
      isDamaged: this.#isDamaged || !this.#isHeadClosed,
    };
  }

  /** Takes an entry at its place, or returns why it has no place there. */
  #place(entry: Entry, at: number): string | undefined {
    const head = this.#head;
    if (head === undefined) {
      if (entry.kind !== 'head') return 'is not the head that a journal begins with';
      this.#head = entry;
      this.#nextSequence = entry.nextSequence;
      this.#nextId = entry.nextId;
      this.#lastTime = entry.lastTime;
      this.#foreign = entry.foreign;
      return undefined;
    }
    if (this.#isHeadClosed) return this.#append(entry, at);
    if (this.#posts.length < head.posts) {
      const before = this.#posts.at(-1)?.sequence ?? 0;
      if (entry.kind !== 'post') return 'is no post, where a kept one belongs';
      const { sequence } = entry.post;
      if (sequence <= before || sequence >= head.nextSequence) {
        return `has sequence ${sequence} behind ${before}, of kept ones below ${head.nextSequence}`;
      }
      this.#posts.push(entry.post);
      return undefined;
    }
    if (this.#keys.length < head.keys) {
      if (entry.kind !== 'key') return 'is no key, where a kept one belongs';
      this.#keys.push(entry.key);
      return undefined;
    }
    if (!isSame(entry, head)) return 'is not the head, which stands again behind the kept entries';
    this.#isHeadClosed = true;
    this.#sync(at);
    return undefined;
  }

  #append(entry: Entry, at: number): string | undefined {
    switch (entry.kind) {
      case 'post': {
        const { sequence, point, movedFrom = 0 } = entry.post;
        if (sequence !== this.#nextSequence) {
          return `has sequence ${sequence}, where ${this.#nextSequence} belongs`;
        }
        this.#posts.push(entry.post);
        this.#nextSequence = sequence + 1;
        this.#nextId = Math.max(this.#nextId, point.id + 1, movedFrom + 1);
        this.#lastTime = Math.max(this.#lastTime, point.createdAt.micros);
        return undefined;
      }
      case 'synced':
        if (entry.bytes !== at) return `says that ${entry.bytes} bytes stand before it, not ${at}`;
        this.#sync(at);
        return undefined;
      case 'next':
        if (entry.nextSequence < this.#nextSequence) {
          return `goes back to sequence ${entry.nextSequence} from ${this.#nextSequence}`;
        }
        this.#nextSequence = entry.nextSequence;
        this.#foreign = entry.foreign;
        return undefined;
      default:
        return `is a ${entry.kind}, which has no place behind the kept entries`;
    }
  }

  #sync(bytes: number): void {
    this.#synced = bytes;
    this.#settled = this.#posts.length;
  }

  #complain({ number }: Line, problem: string): void {
    this.#problemCount++;
    if (this.#problems.length < NAMED) this.#problems.push(`line ${number}: ${problem}`);
  }
}

/** Whether a bad line ends with a mark of its own: the end of line between them is damaged. */
function hidesMark(bytes: Buffer): boolean {
  const at = bytes.lastIndexOf(MARK_BEGINS) - CHECKSUM_DIGITS;
  return at > 0 && typeof readLine(bytes.subarray(at)) !== 'string';
}

function isSame(entry: Entry, head: Head): boolean {
  return JSON.stringify(entry) === JSON.stringify(head);
}
