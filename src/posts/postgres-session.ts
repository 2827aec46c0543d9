import { setTimeout as delay } from 'node:timers/promises';
import { createQueue, type Queue } from '../model/turns.js';
import { type JournalOptions, JournalUnavailable } from './journal.js';
import type { DatabaseAddress } from './postgres-address.js';
import { connect, type Link, Refused, type SqlValue, Uncertain } from './postgres-link.js';

/** How often to look, since a notification may get lost. */
const LOOK_MS = 100;
/** Between two tries to reach the database. */
const RETRY_MS = 500;
/** Between two tries of a statement whose outcome is unknown. */
const INSIST_MS = 100;
const UNREACHABLE = 'the database cannot be reached';
/** Takes the lock of batches, and is confirmed as they are. */
const TRY = 'UPDATE waypost.state SET one = true';

/** Stays connected to the database, looks at it, and knows what is wrong with it. */
export class Session {
  /** Undefined while not connected. */
  link: Link | undefined;
  readonly alone: Queue = createQueue();
  readonly #address: DatabaseAddress;
  readonly #logger: JournalOptions['logger'];
  readonly #look: (link: Link) => Promise<void>;
  /** The highest timeline that was seen. */
  #timeline = 0;
  /** Undefined once a look and a try to write succeed. */
  #problem: string | undefined;
  /** The last refusal, which is logged once. */
  #refusal = '';
  #isClosed = false;
  #running: Promise<void> | undefined;
  /** Wakes the loop when it is aborted. */
  #bell = new AbortController();

  /** `look` is called ten times a second, and whenever there may be something new. */
  constructor(
    address: DatabaseAddress,
    logger: JournalOptions['logger'],
    look: (link: Link) => Promise<void>,
  ) {
    this.#address = address;
    this.#logger = logger;
    this.#look = look;
  }

  /** Why nothing can be read or written, as clients may know it. */
  get problem(): string | undefined {
    return this.#problem && `the journal fails: ${this.#problem}`;
  }

  /** Starts the loop that looks. Rejects as the link does. */
  async begin(link: Link): Promise<void> {
    await this.#use(link);
    this.#running = this.#run();
  }

  /** Makes the loop look at once. */
  ring(): void {
    this.#bell.abort();
  }

  /**
   * Repeats a statement that may run twice until its outcome is known, or until `deadline`, by
   * `performance.now()`. Rejects with a {@link JournalUnavailable}; the problem stays then.
   */
  async insist<Row>(
    statement: string,
    values: readonly SqlValue[],
    deadline: number,
  ): Promise<readonly Row[]> {
    for (;;) {
      try {
        if (this.link === undefined) throw new Uncertain(UNREACHABLE);
        return await this.link.write(statement, values, deadline - performance.now());
      } catch (error) {
        const left = deadline - performance.now();
        if (!(error instanceof Uncertain) || left <= 0) {
          this.#problem = this.#reasonOf(error);
          throw new JournalUnavailable(this.problem);
        }
        this.ring();
        await delay(Math.min(INSIST_MS, left));
      }
    }
  }

  /** Asks the database. Rejects with a {@link JournalUnavailable}. */
  read<Row>(statement: string, values?: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#ask((link) => link.read<Row>(statement, values));
  }

  /** The same with a statement that changes something. */
  write<Row>(statement: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#ask((link) => link.write<Row>(statement, values));
  }

  async #ask<T>(work: (link: Link) => Promise<T>): Promise<T> {
    try {
      if (this.link === undefined) throw new Uncertain(UNREACHABLE);
      return await work(this.link);
    } catch (error) {
      if (error instanceof JournalUnavailable) throw error;
      throw new JournalUnavailable(`the journal fails: ${this.#reasonOf(error)}`);
    }
  }

  /** Ends all after `work`, which may fail. */
  async close(work: (link: Link) => Promise<void>): Promise<void> {
    this.#isClosed = true;
    this.ring();
    await this.#running;
    if (this.link !== undefined) await work(this.link).catch(() => {});
    this.link?.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      this.#bell = new AbortController();
      const pauseMs = await this.#lookOnce();
      await delay(pauseMs, undefined, { signal: this.#bell.signal }).catch(() => {});
    }
  }

  /** Returns the pause before the next look, in milliseconds. */
  async #lookOnce(): Promise<number> {
    const isLinked = this.link !== undefined;
    try {
      const link = this.link ?? (await connect(this.#address, this.#timeline));
      if (!isLinked) await this.#use(link);
      await this.#look(link);
      if (this.#problem !== undefined) await link.write(TRY, []);
      this.#problem = undefined;
      return LOOK_MS;
    } catch (error) {
      // a lost connection is tried once more before anybody hears of it
      if (error instanceof Uncertain && isLinked) return 0;
      this.#problem = this.#reasonOf(error);
      return RETRY_MS;
    }
  }

  async #use(link: Link): Promise<void> {
    this.#timeline = link.timeline;
    this.link = link;
    void link.lost.then(() => {
      if (this.link === link) this.link = undefined;
      this.ring();
    });
    await link.listen('waypost', () => this.ring());
  }

  /** Why something failed, for clients; the database's text, which may have names, is logged. */
  #reasonOf(error: unknown): string {
    const { message } = error as Error;
    if (!(error instanceof Refused)) return message;
    if (message !== this.#refusal) {
      this.#logger?.error({ reason: message }, 'the database refuses');
    }
    this.#refusal = message;
    return `the database refuses (${error.code})`;
  }
}
