/** What is counted of uploads, in plain numbers. */
export interface ImageStats {
  /**
   * Uploads by what came of them: an image, no image that can be taken, or a fault of the system.
   */
  readonly outcomes: Record<'taken' | 'refused' | 'failed', number>;
  /** Of the images that were made. */
  bytes: number;
  /** That all uploads took from file to image, together. */
  seconds: number;
}

/** Counts nothing yet. */
export function createImageStats(): ImageStats {
  return { outcomes: { taken: 0, refused: 0, failed: 0 }, bytes: 0, seconds: 0 };
}
