import { type MessagePort, Worker } from 'node:worker_threads';

/** Memory to be transferred, or enclosed. */
type Memory = ArrayBuffer | MessagePort;

interface Port {
  postMessage(message: unknown, transfer: readonly Memory[]): void;
  on(event: 'message', hear: (message: Message) => void): unknown;
}

/** Functions that another thread may call by name; arguments and results are copied. */
type Offered = Readonly<Record<string, (...given: never[]) => unknown>>;

/** The memory to transfer with the arguments or the result of a call. */
type MemoryOf = (name: string, value: never) => readonly Memory[];

/** What a module offers in a thread. */
export type Offer = readonly [functions: Offered, memoryOf?: MemoryOf];

/** With number 0 nobody waits for a reply. */
type Call = readonly [number: number, name: string, given: readonly unknown[]];
/** `facts` are the error's own properties, which a copy loses. */
type Reply = readonly [number: number, value: unknown, error?: unknown, facts?: object];
type Message = readonly [calls: readonly Call[], replies: readonly Reply[]];

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Calls functions of another thread, and answers its calls. The calls and replies of one turn of
 * the event loop go as one message, in order: a message costs more than a post.
 */
export class Calls<Theirs extends Offered> {
  readonly #port: Port;
  readonly #ours: Offered;
  readonly #memoryOf: MemoryOf;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #end: { readonly error: unknown } | undefined;
  #calls: Call[] = [];
  #replies: Reply[] = [];
  #memory: Memory[] = [];

  constructor(port: Port, ours: Offered, memoryOf: MemoryOf = () => []) {
    this.#port = port;
    this.#ours = ours;
    this.#memoryOf = memoryOf;
    port.on('message', ([calls, replies]) => {
      for (const call of calls) void this.#answer(call);
      for (const reply of replies) this.#resolve(reply);
    });
  }

  call<Name extends keyof Theirs & string>(
    name: Name,
    ...given: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) throw this.#end.error;
      this.#waiting.set(++this.#last, { resolve: resolve as Waiting['resolve'], reject });
      this.#memory.push(...this.#memoryOf(name, given as never));
      this.#say(this.#calls, [this.#last, name, given]);
    });
  }

  /** {@link call} without a reply. */
  tell<Name extends keyof Theirs & string>(name: Name, ...given: Parameters<Theirs[Name]>): void {
    this.#say(this.#calls, [0, name, given]);
  }

  /** Rejects all calls, now and later: the other thread is gone. */
  fail(error: unknown): void {
    this.#end ??= { error };
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

/** Starts a thread that offers what the function `offer` of a module makes of `given`. */
export function startThread<Theirs extends Offered>(
  name: string,
  module: string,
  given?: unknown,
  memoryOf?: MemoryOf,
): { readonly thread: Worker; readonly calls: Calls<Theirs> } {
  const entry = new URL('./call-thread.js', import.meta.url);
  const thread = new Worker(entry, { workerData: { module, given } });
  const calls = new Calls<Theirs>(thread, {}, memoryOf);
  thread.on('error', (error) => calls.fail(error));
  thread.on('exit', (code) => calls.fail(new Error(`the ${name} thread ended with code ${code}`)));
  return { thread, calls };
}
