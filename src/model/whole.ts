/**
 * Whether a value is a whole number between two bounds, both included, which a double holds
 * exactly.
 */
export function isWhole(
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}
