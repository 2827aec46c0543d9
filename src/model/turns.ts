/** A holder of a part of a room. */
interface Guest {
  /** Takes more of the room; where it is full, another guest must leave, or this one. */
  grow(amount: number): void;
  leave(): void;
}

interface Entry {
  amount: number;
  readonly onTurnedOut: () => void;
}

interface Client {
  readonly address: string;
  amount: number;
  /** In the order in which they came. */
  readonly guests: Set<Entry>;
}

/**
 * Room that clients share, by their address. A client alone may have all of it. Where it is full,
 * the client that has most of it loses the guest that has been there longest; a client that has as
 * much as any other gets no more.
 */
export class SharedRoom {
  readonly #size: number;
  #taken = 0;
  readonly #clients = new Map<string, Client>();

  constructor(size: number) {
    this.#size = size;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Lets a guest of a client in, with nothing yet; `onTurnedOut` is called within a `grow`. */
  enter(address: string, onTurnedOut: () => void): Guest {
    const client = this.#clients.get(address) ?? { address, amount: 0, guests: new Set() };
    this.#clients.set(address, client);
    const guest: Entry = { amount: 0, onTurnedOut };
    client.guests.add(guest);

    return {
      grow: (amount) => {
        if (!client.guests.has(guest)) return;
        guest.amount += amount;
        client.amount += amount;
        this.#taken += amount;
        while (this.#taken > this.#size && client.guests.has(guest)) {
          const most = this.#mostOf(client);
          const [longest = guest] = most === client ? [guest] : most.guests;
          this.#leave(most, longest);
          longest.onTurnedOut();
        }
      },
      leave: () => this.#leave(client, guest),
    };
  }

  #leave(client: Client, guest: Entry): void {
    const { address, guests } = client;
    if (!guests.delete(guest)) return;
    client.amount -= guest.amount;
    this.#taken -= guest.amount;
    if (guests.size === 0) this.#clients.delete(address);
  }

  /** The client that has more than `asking`, and most of all; `asking` where none has more. */
  #mostOf(asking: Client): Client {
    let most = asking;
    for (const client of this.#clients.values()) if (client.amount > most.amount) most = client;
    return most;
  }
}

/**
 * A bounded queue with a line for each client. Clients take turns, however many entries they bring;
 * where the queue is full, the client with the longest line loses its last entry.
 */
export class Turns<Entry> {
  readonly #most: number;
  /** By client; the first line has the next turn. */
  readonly #lines = new Map<string, Entry[]>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size >= this.#most;
  }

  of(client: string): number {
    return this.#lines.get(client)?.length ?? 0;
  }

  /** Adds an entry; returns the one that was pushed out, if any. */
  add(client: string, entry: Entry): Entry | undefined {
    const line = this.#lines.get(client) ?? [];
    line.push(entry);
    this.#lines.set(client, line);
    this.#size++;
    if (this.#size <= this.#most) return undefined;
    this.#size--;
    const longest = [...this.#lines].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    const [name, entries] = line.length === longest[1].length ? [client, line] : longest;
    const last = entries.pop();
    if (entries.length === 0) this.#lines.delete(name);
    return last;
  }

  /** Takes out the next entry that `fits`; undefined where none waits. */
  next(fits: (entry: Entry) => boolean = () => true): Entry | undefined {
    for (const [client, line] of this.#lines) {
      const at = line.findIndex(fits);
      if (at < 0) continue;
      this.#lines.delete(client);
      const [entry] = line.splice(at, 1);
      this.#size--;
      if (line.length > 0) this.#lines.set(client, line);
      return entry;
    }
    return undefined;
  }

  drop(isGone: (entry: Entry) => boolean): Entry[] {
    const gone: Entry[] = [];
    for (const [client, line] of this.#lines) {
      const left = line.filter((entry) => !isGone(entry));
      gone.push(...line.filter(isGone));
      if (left.length === 0) this.#lines.delete(client);
      else this.#lines.set(client, left);
    }
    this.#size -= gone.length;
    return gone;
  }
}

/**
 * Makes long work of a thread take turns by address, one in each turn of the event loop: what is
 * returned resolves once it is the caller's turn.
 */
export function createTurnstile(): (client: string) => Promise<void> {
  const waiting = new Turns<() => void>(Number.POSITIVE_INFINITY);
  let isOpen = false;

  function next(): void {
    const begin = waiting.next();
    isOpen = begin !== undefined;
    if (begin === undefined) return;
    begin();
    setImmediate(next);
  }

  return (client) =>
    new Promise((resolve) => {
      waiting.add(client, resolve);
      if (!isOpen) setImmediate(next);
      isOpen = true;
    });
}

/** Runs work once all that it was given earlier has ended, well or not. */
export type Queue = <T>(work: () => T | Promise<T>) => Promise<T>;

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const working = last.then(work);
    last = working.catch(() => {});
    return working;
  };
}

/** Waits for work; rejects with what `late` makes where that takes more than `ms` milliseconds. */
export function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
