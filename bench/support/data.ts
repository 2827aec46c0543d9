import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { generateSnapshot } from '../../src/cli/generate.js';
import { FORMAT_VERSION } from '../../src/formats/native/format.js';
import { say } from './run.js';

/** Where generated points are kept between runs; outside git. */
export const CACHE: string = join(import.meta.dirname, '../../../bench/.cache');

/** The seed of all benches: the same points everywhere. */
export const SEED = 1;

/** Path of a native snapshot of `points` generated points, made on first use. */
export function nativeFile(points: number, seed: number = SEED): Promise<string> {
  // the name has the version, since files of an earlier version cannot be read
  return generated(points, seed, `v${FORMAT_VERSION}.waypost`);
}

export function ndjsonFile(points: number, seed: number = SEED): Promise<string> {
  return generated(points, seed, 'ndjson');
}

function generated(points: number, seed: number, ending: string): Promise<string> {
  const make = (out: string): Promise<void> => generateSnapshot({ points, seed, out, print: say });
  return cached(`${points}-${seed}.${ending}`, make);
}

/** A file of the cache, made by `make` when it is not there. */
export async function cached(
  name: string,
  make: (path: string) => void | Promise<void>,
): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const path = join(CACHE, name);
  if (!existsSync(path)) {
    say(`making ${name}, kept in bench/.cache`);
    // with the same ending: an interrupted run leaves no file of that name
    const draft = join(CACHE, `draft-${name}`);
    await make(draft);
    renameSync(draft, path);
  }
  return path;
}
