/** What came of one test file. */
export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** CPU time of this process and of children it waited for; 0 where the system tells none. */
  readonly cpuSeconds: number;
  /** Memory of this process after the file, in bytes. */
  readonly memory: number;
}

/** What a process of the runner's is given: a compiled file, and its time for what comes after. */
export interface FileOrder {
  readonly path: string;
  /** Milliseconds in which handles must close once the tests are done. */
  readonly closingMs: number;
}

/** Ends what a file printed, on both streams. */
export const END_MARK = '\u0000end of file\u0000\n';

/** Sent instead of an order: the process is to exit. */
export const EXIT = 'exit';
