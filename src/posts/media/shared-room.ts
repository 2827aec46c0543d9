/** What a client has of some room. */
export interface Guest {
  /** Takes more of the room. Where there is none, a guest must leave for it, or this one. */
  grow(amount: number): void;
  leave(): void;
}

/** A guest, and what it is told when it must leave. */
interface Entry {
  amount: number;
  readonly onTurnedOut: () => void;
}

interface Client {
  readonly address: string;
  amount: number;
  /** Those that came first stand first. */
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

  /** What all guests have together. */
  get taken(): number {
    return this.#taken;
  }

  /** Lets a guest of a client in, who has nothing yet; `onTurnedOut` is called within a `grow`. */
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
