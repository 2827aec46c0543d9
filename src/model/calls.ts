import { Worker } from 'node:worker_threads';
import { release } from './memory.js';

/** A thread, or the port to its parent. */
interface Port {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: 'message', hear: (message: Message) => void): unknown;
}

/** Functions that another thread may call, by name; what is given and returned is copied. */
type Offered = Readonly<Record<string, (...given: never[]) => unknown>>;

/** Tells which memory goes along with what is given to a call, or returned. */
type MemoryOf = (name: string, value: never) => readonly ArrayBuffer[];

/** What a module has called in a thread. */
export type Offer = readonly [functions: Offered, memoryOf?: MemoryOf];

/** Without a number nobody waits for a reply. */
type Call = readonly [number: number, name: string, given: readonly unknown[]];
/** With what the error has besides its message. */
type Reply = readonly [number: number, value: unknown, error?: unknown, facts?: object];
type Message = readonly [calls: readonly Call[], replies: readonly Reply[]];

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

// When a thread gives memory away for the first time, V8 drops what it has compiled for typed arrays:
// here that is before there is any, and not with the first large answer to a client.
release(new Uint8Array(1));

/**
 * Calls functions of another thread, and has that call ours. What is said in one turn of the event
 * loop is one message, since a message costs more than a post; all of it arrives in its order.
 */
export class Calls<Theirs extends Offered> {
  readonly #port: Port;
  readonly #ours: Offered;
  readonly #memoryOf: MemoryOf;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  /** Why there is no other thread any more. */
  #end: { readonly error: unknown } | undefined;
  #calls: Call[] = [];
  #replies: Reply[] = [];
  #memory: ArrayBuffer[] = [];

  constructor(port: Port, ours: Offered, memoryOf: MemoryOf = () => []) {
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
      if (this.#end !== undefined) throw this.#end.error;
      this.#waiting.set(++this.#last, { resolve: resolve as Waiting['resolve'], reject });
      this.#memory.push(...this.#memoryOf(name, given as never));
      this.#say(this.#calls, [this.#last, name, given]);
    });
  }

  /** The same, where nobody waits for the end. */
  tell<Name extends keyof Theirs & string>(name: Name, ...given: Parameters<Theirs[Name]>): void {
    this.#say(this.#calls, [0, name, given]);
  }

  /** Rejects all calls that wait, and those to come: the other thread is gone. */
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

/**
 * Starts a thread that has called what the function `offer` of the module at an address makes of
 * `given`. Calls reject once the thread, called `name`, has died.
 */
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
