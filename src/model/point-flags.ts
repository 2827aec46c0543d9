/** Bits of a number that tells of a point in columns: it is processed, it has an image. */
export const PROCESSED = 1;
export const IMAGE = 2;
