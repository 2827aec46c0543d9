import { MediaUnavailable } from './folder.js';

/** How many may wait for a turn, and how long. */
export interface TurnLimits {
  /** All of them together. */
  readonly maxWaiting: number;
  /** Of one address, while others wait. */
  readonly maxOfAddress: number;
  readonly maxWaitMs: number;
}

/** One that waits. */
interface Waiting {
  begin(): void;
  turnOut(reason: string): void;
}

/** Lets one begin at a time, each address in its turn. */
export class Turns {
  readonly #limits: TurnLimits;
  /** By address, in the order of their turns; none is empty. */
  readonly #lines = new Map<string, Waiting[]>();
  #waiting = 0;
  #isTaken = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when it is the turn of one more of an address, until {@link end}. Rejects with a
   * MediaUnavailable where too many wait, or the turn does not come in time.
   */
  async next(address: string): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    this.#makeRoom(address);
    const line = this.#lines.get(address) ?? [];
    this.#lines.set(address, line);
    this.#waiting++;
    await new Promise<void>((resolve, reject) => {
      const turnOut = (reason: string): void => {
        clearTimeout(timer);
        this.#remove(address, waiting);
        reject(new MediaUnavailable(reason));
      };
      const timer = setTimeout(turnOut, this.#limits.maxWaitMs, 'images wait too long');
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiting = { begin, turnOut };
      line.push(waiting);
    });
  }

  /** Ends a turn: that of the next address begins. */
  end(): void {
    const [first] = this.#lines;
    if (first === undefined) {
      this.#isTaken = false;
      return;
    }
    const [address, line] = first;
    const waiting = line[0]!;
    this.#remove(address, waiting);
    if (line.length > 0) {
      // behind all others
      this.#lines.delete(address);
      this.#lines.set(address, line);
    }
    waiting.begin();
  }

  /** Throws a MediaUnavailable where one more of an address finds no room, whoever is turned out. */
  #makeRoom(address: string): void {
    const { maxWaiting, maxOfAddress } = this.#limits;
    const own = this.#lines.get(address)?.length ?? 0;
    const isAlone = this.#lines.size === (own > 0 ? 1 : 0);
    if (!isAlone && own >= maxOfAddress) {
      throw new MediaUnavailable('too many images of this address are waiting');
    }
    if (this.#waiting < maxWaiting) return;
    let longest: Waiting[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= own + 1) throw new MediaUnavailable('too many images are waiting');
    longest.at(-1)!.turnOut('images of other addresses are waiting');
  }

  #remove(address: string, waiting: Waiting): void {
    const line = this.#lines.get(address)!;
    line.splice(line.indexOf(waiting), 1);
    this.#waiting--;
    if (line.length === 0) this.#lines.delete(address);
  }
}
