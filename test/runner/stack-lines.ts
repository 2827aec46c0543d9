import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
