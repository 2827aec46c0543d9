/** What several rounds of one measurement came to, in the unit of its values. */
export interface Spread {
  readonly min: number;
  readonly mean: number;
  readonly median: number;
  readonly max: number;
  /** Sample standard deviation; 0 for a single round. */
  readonly deviation: number;
}

/** Summarizes rounds; throws when there are none. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('Expected at least one round, got none.');
  const sorted = values.toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    min: sorted[0]!,
    mean,
    median: medianOf(sorted),
    max: sorted.at(-1)!,
    deviation: sorted.length === 1 ? 0 : Math.sqrt(squares / (sorted.length - 1)),
  };
}

/**
 * Ratios round by round: `ours[i]` and `theirs[i]` were measured next to each other, so what slows
 * the machine for a while slows both. Rounds that only one of them has are left out.
 */
export function ratiosOf(ours: readonly number[], theirs: readonly number[]): Spread {
  const rounds = Math.min(ours.length, theirs.length);
  return spreadOf(Array.from({ length: rounds }, (_, i) => ours[i]! / theirs[i]!));
}

export function figureOf<Key extends string>(
  rounds: readonly Readonly<Record<Key, number>>[],
  key: Key,
): Spread {
  return spreadOf(rounds.map((round) => round[key]));
}

/** One figure of each round beside another one of the same round. */
export function ratioOf<Key extends string>(
  rounds: readonly Readonly<Record<Key, number>>[],
  ours: Key,
  theirs: Key,
): Spread {
  return ratiosOf(
    rounds.map((round) => round[ours]),
    rounds.map((round) => round[theirs]),
  );
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
