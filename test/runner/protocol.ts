/** What came of one test file. */
export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /**
   * CPU time of this process and of the children it waited for; 0 where the system does not tell.
   */
  readonly cpuSeconds: number;
  /** Memory of this process after the file, in bytes. */
  readonly memory: number;
}

/** Ends what a file printed, on both streams. */
export const END_MARK = '\u0000end of file\u0000\n';

/** Sent instead of a path: the process is to exit. */
export const EXIT = 'exit';
