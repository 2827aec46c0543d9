/** What peers can be asked: the part of the interface that the scenarios for them use. */
export interface PeerQuery {
  readonly box?: readonly [west: number, south: number, east: number, north: number];
  readonly circle?: { readonly lat: number; readonly lon: number; readonly radius: number };
}

/** A page of 100: by id for a box, nearest first for a circle. */
export interface PeerPage {
  readonly count: number;
  /** The records' JSON with commas between. */
  readonly records: string;
}

/** A store that answers as Waypost does. */
export interface PeerStore {
  page(query: PeerQuery): PeerPage | Promise<PeerPage>;
}

export const PAGE_SIZE = 100;

/** Where a peer's own server runs, once it is filled. */
export interface Backend {
  readonly port: number;
  /** Its process, whose CPU time and that of its children counts as the peer's. */
  readonly pid: number;
}

/** Why a peer is left out; not an error of the bench. */
export class Skipped extends Error {}
