import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** CPU time of the process and its ended children; 0 where the system does not tell. */
  readonly cpuSeconds: number;
  /** Memory of the process after the file, in bytes. */
  readonly memory: number;
}

/** The order to run a compiled file. */
export interface FileOrder {
  readonly path: string;
  /** Milliseconds in which handles must close once the tests are done. */
  readonly closingMs: number;
}

/** Written to both streams after a file's own output. */
export const END_MARK = '\u0000end of file\u0000\n';

/** Sent instead of a `FileOrder`: the process is to exit. */
export const EXIT = 'exit';

/** Makes Ctrl+C and SIGTERM exit the process, so that its exit handlers run. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}

const PLACE = /(file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

/**
 * Translates positions in stack traces from compiled files to their sources. Node's own
 * `--enable-source-maps` reads the map of every module at every start.
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
