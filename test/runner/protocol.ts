import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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

/** Has a signal such as that of Ctrl+C end this process by an exit: what awaits that is done. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}

const PLACE = /(file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

/**
 * Replaces places in compiled files, as stacks name them, by those in their sources. Node does this
 * by itself with `--enable-source-maps`, but then reads the map of every module at every start.
 */
export function sourceLines(text: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return text.replaceAll(PLACE, (place, _, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, readMap(file));
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return place;
    const source = new URL(entry.originalSource, pathToFileURL(file));
    const path = relative(process.cwd(), fileURLToPath(source));
    return `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
