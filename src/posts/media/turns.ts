import { Turns } from './address-turns.js';
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
export class ImageTurns {
  readonly #limits: TurnLimits;
  readonly #waiting: Turns<Waiting>;
  #isTaken = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#waiting = new Turns(limits.maxWaiting);
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
    const own = this.#waiting.of(address);
    if (own >= this.#limits.maxOfAddress && own < this.#waiting.size) {
      throw new MediaUnavailable('too many images of this address are waiting');
    }
    await new Promise<void>((resolve, reject) => {
      const turnOut = (reason: string): void => {
        clearTimeout(timer);
        this.#waiting.drop((one) => one === waiting);
        reject(new MediaUnavailable(reason));
      };
      const timer = setTimeout(turnOut, this.#limits.maxWaitMs, 'images wait too long');
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiting: Waiting = { begin, turnOut };
      const other = this.#waiting.add(address, waiting);
      const whose = other === waiting ? 'too many images' : 'images of other addresses';
      other?.turnOut(`${whose} are waiting`);
    });
  }

  /** Ends a turn: that of the next address begins. */
  end(): void {
    const next = this.#waiting.next();
    this.#isTaken = next !== undefined;
    next?.begin();
  }
}
