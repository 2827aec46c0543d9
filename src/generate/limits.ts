/** Points of one generated snapshot, at most. */
export const MAX_POINTS: number = 2 ** 30;

/** Seeds are whole numbers from 0 to this. */
export const MAX_SEED: number = Number.MAX_SAFE_INTEGER;
