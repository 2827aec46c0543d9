import { InputError } from '../../errors.js';
import type { Point } from '../../model/point.js';
import type { Microseconds } from '../../model/units.js';

/** What a client sent to have its post accepted once, however often it is sent. */
export interface PostKey {
  /** Visible ASCII characters and blanks. */
  readonly name: string;
  /** The SHA-256 of the request's body: hexadecimal. */
  readonly body: string;
}

/** An accepted point, as the journal keeps it. */
export interface Post {
  /** A whole number from 1, one more each post, never used again. */
  readonly sequence: number;
  readonly point: Point;
  readonly key?: PostKey | undefined;
  /** The id under which the point was acknowledged, where it has another one by now. */
  readonly movedFrom?: number | undefined;
}

export interface NewPost extends Pick<Post, 'point' | 'key'> {
  /** The point's JSON, where it is rendered already. */
  readonly record?: string | undefined;
}

/** A key that was used, and what it was answered with. */
export interface SpentKey extends PostKey {
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** The record's JSON as it was acknowledged. */
  readonly record: string;
}

export interface JournalState {
  /** Size of the file. */
  readonly bytes: number;
  /** Posts that are not retired. */
  readonly waiting: number;
  /** Of the newest post, retired ones included; 0 before the first. */
  readonly lastSequence: number;
  /** Above the id of every post that was ever journaled. */
  readonly nextId: number;
  /** The latest time of creation that was ever journaled; 0 before the first post. */
  readonly lastTime: Microseconds;
  /** Why nothing can be written now; undefined where all is well. */
  readonly problem: string | undefined;
}

/**
 * Accepted points on stable storage, until a snapshot contains them. One process owns a journal.
 */
export interface Journal {
  /** What was found when the journal was opened. */
  readonly opened: {
    /** There was none before. */
    readonly created: boolean;
    /** Bytes of a write that was never acknowledged, cut off the end. */
    readonly cutBytes: number;
  };
  readonly state: JournalState;
  /**
   * Numbers the posts and resolves when they are on stable storage; many callers share one
   * `fdatasync`. Calls resolve in the order of their sequence numbers. Rejects with
   * {@link JournalUnavailable}; of the posts then nothing stays, neither now nor after a restart.
   */
  append(posts: readonly NewPost[]): Promise<readonly Post[]>;
  /** Every post on stable storage that is not retired, by sequence. */
  replay(): Iterable<Post>;
  /** The keys of the last 24 hours, those of retired posts included. */
  keys(): Iterable<SpentKey>;
  /**
   * Forgets posts and gives others a new id, by their sequence in `moves`: writes the file anew,
   * atomically, while appends go on. Posts that are appended meanwhile stay. Resolves when the new
   * file is on stable storage. Rejects with {@link JournalUnavailable}; all is then as before, but
   * where the new file has its name and that could not be flushed: then nothing is appended until a
   * further file has it for sure.
   */
  retire(isRetired: (post: Post) => boolean, moves?: ReadonlyMap<number, number>): Promise<void>;
  /**
   * Takes the watermark of a snapshot and returns up to which sequence posts of this journal are in
   * the snapshot. That is 0 for the watermark of another journal, such as one that was lost, which
   * is above all sequences here: posts get sequences above it from then on, and it stays known as
   * that of another.
   */
  takeWatermark(watermark: number): number;
  /** Waits for what is under way and gives the journal free for other processes. */
  close(): Promise<void>;
}

/** The journal cannot be written now, such as on a full disk; it may be possible later. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';
}

/** Another process owns the journal. */
export class JournalLocked extends InputError {}

/** The system does not let this process write the journal or its folder. */
export class JournalUnwritable extends InputError {}

/** What was acknowledged is damaged in the file. */
export class JournalDamaged extends InputError {}
