/** What a client says of a new point, valid; the rest is the service's own to set. */
export interface Draft {
  /** Degrees, with eight digits after the point. */
  readonly lat: string;
  readonly lon: string;
  readonly comment: string;
  /** Undefined rather than empty. */
  readonly tags: readonly string[] | undefined;
}

/** What is wrong with what a client says: texts by field. */
export interface Refused {
  readonly problems: Readonly<Record<string, readonly string[]>>;
}
