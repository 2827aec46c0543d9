import { type Delta, type DeltaSize, hasRoom } from '../index/delta.js';

/** Room that is kept for points while they are journaled. */
export interface Room {
  /** Gives the room back: the points have been appended by now, or never will be. */
  release(): void;
}

/** Somebody who waits for room. */
interface Waiting {
  readonly size: DeltaSize;
  readonly grant: (hasRoom: boolean) => void;
}

/** Room in deltas, for those who ask in the sequence in which they do. */
export class Rooms {
  readonly #capacity: DeltaSize;
  readonly #patienceMs: number;
  readonly #open: ReadonlySet<Delta>;
  readonly #onWanted: () => void;
  #reserved: DeltaSize = { rows: 0, bytes: 0 };
  /** In the sequence in which they came. */
  readonly #waiting = new Set<Waiting>();
  /** Whether somebody waited for room in vain since there was any. */
  isRefusing = false;

  /** In all `open` deltas of a capacity; `onWanted` is called when somebody begins to wait. */
  constructor(
    open: ReadonlySet<Delta>,
    capacity: DeltaSize,
    patienceMs: number,
    onWanted: () => void,
  ) {
    this.#open = open;
    this.#capacity = capacity;
    this.#patienceMs = patienceMs;
    this.#onWanted = onWanted;
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves with undefined where no room came in time, or can never come. */
  async reserve(size: DeltaSize): Promise<Room | undefined> {
    if (this.isAwaited || !this.#tryReserve(size)) {
      if (!(await this.#waitFor(size))) return undefined;
    }
    let isReserved = true;
    const release = (): void => {
      const { rows, bytes } = this.#reserved;
      if (isReserved) this.#reserved = { rows: rows - size.rows, bytes: bytes - size.bytes };
      isReserved = false;
      this.give();
    };
    return { release };
  }

  /** Lets those go on for whom there is room now, in the sequence in which they came. */
  give(): void {
    for (const waiting of this.#waiting) {
      if (!this.#tryReserve(waiting.size)) return;
      this.#waiting.delete(waiting);
      waiting.grant(true);
    }
  }

  #tryReserve({ rows, bytes }: DeltaSize): boolean {
    const before = this.#reserved;
    const reserved = { rows: before.rows + rows, bytes: before.bytes + bytes };
    for (const delta of this.#open) if (!hasRoom(delta, reserved)) return false;
    this.#reserved = reserved;
    this.isRefusing = false;
    return true;
  }

  #waitFor(size: DeltaSize): Promise<boolean> {
    if (fillOf(size, this.#capacity) > 1) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        size,
        grant(isReserved) {
          clearTimeout(timer);
          resolve(isReserved);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        this.isRefusing = true;
        resolve(false);
        this.give();
      }, this.#patienceMs);
      this.#waiting.add(waiting);
      this.#onWanted();
    });
  }
}

/** The share of a capacity that is taken, of its rows or of its bytes, whichever is more. */
export function fillOf({ rows, bytes }: DeltaSize, capacity: DeltaSize): number {
  return Math.max(rows / capacity.rows, bytes / capacity.bytes);
}
