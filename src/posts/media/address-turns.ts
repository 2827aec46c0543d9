/**
 * Entries that wait, up to a number. Each client has a turn, however many entries it brings, and
 * where there is no room it is the client with the longest line who has to go without.
 */
export class Turns<Entry> {
  readonly #most: number;
  /** The lines of all clients; the first is the next to have a turn. */
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

  /** How many entries of a client wait. */
  of(client: string): number {
    return this.#lines.get(client)?.length ?? 0;
  }

  /** Adds an entry; returns the one that there is no room for, if any. */
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

  /** Drops the entries that are `gone`, which take up room; returns them. */
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
 * Makes what lets long work of a thread go on in turns, by address, one in a turn of the event loop:
 * it resolves once it is the caller's turn.
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
