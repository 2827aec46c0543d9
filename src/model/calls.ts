/** A thread, or the port to its parent. */
interface Port {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: 'message', hear: (message: Message) => void): unknown;
}

/** Functions that another thread may call, by name; what is given and returned is copied. */
type Offered = Readonly<Record<string, (...given: never[]) => unknown>>;

/** Without a number nobody waits for a reply. */
type Call = readonly [number: number, name: string, given: readonly unknown[]];
/** With what the error has besides its message. */
type Reply = readonly [number: number, value: unknown, error?: unknown, facts?: object];
type Message = readonly [calls: readonly Call[], replies: readonly Reply[]];

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Calls functions of another thread, and has that call ours. What is said in one turn of the event
 * loop is one message, since a message costs more than a post; all of it arrives in its order.
 */
export class Calls<Theirs extends Offered> {
  readonly #port: Port;
  readonly #ours: Offered;
  readonly #memoryOf: (name: string, value: never) => readonly ArrayBuffer[];
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #calls: Call[] = [];
  #replies: Reply[] = [];
  #memory: ArrayBuffer[] = [];

  /** `memoryOf` tells which memory goes along with what is given to a call, or returned. */
  constructor(
    port: Port,
    ours: Offered,
    memoryOf: (name: string, value: never) => readonly ArrayBuffer[] = () => [],
  ) {
    this.#port = port;
    this.#ours = ours;
    this.#memoryOf = memoryOf;
    port.on('message', ([calls, replies]) => {
      for (const call of calls) void this.#answer(call);
      for (const reply of replies) this.#resolve(reply);
    });
  }

  /** Resolves with what the function returns, and rejects with what it throws. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    ...given: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#last, { resolve: resolve as Waiting['resolve'], reject });
      this.#memory.push(...this.#memoryOf(name, given as never));
      this.#say(this.#calls, [this.#last, name, given]);
    });
  }

  /** The same, where nobody waits for the end. */
  tell<Name extends keyof Theirs & string>(name: Name, ...given: Parameters<Theirs[Name]>): void {
    this.#say(this.#calls, [0, name, given]);
  }

  /** Rejects all calls that wait: the other thread is gone. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  async #answer([number, name, given]: Call): Promise<void> {
    try {
      const value = await this.#ours[name]!(...(given as never[]));
      if (number === 0) return;
      this.#memory.push(...this.#memoryOf(name, value as never));
      this.#say(this.#replies, [number, value]);
    } catch (error) {
      if (number === 0) throw error;
      this.#say(this.#replies, [number, undefined, error, { ...(error as object) }]);
    }
  }

  #resolve([number, value, error, facts]: Reply): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (facts === undefined) waiting?.resolve(value);
    else waiting?.reject(error instanceof Error ? Object.assign(error, facts) : error);
  }

  #say<Item>(list: Item[], item: Item): void {
    if (this.#calls.length + this.#replies.length === 0) setImmediate(() => this.#flush());
    list.push(item);
  }

  #flush(): void {
    const message: Message = [this.#calls, this.#replies];
    const memory = this.#memory;
    this.#calls = [];
    this.#replies = [];
    this.#memory = [];
    this.#port.postMessage(message, memory);
  }
}
