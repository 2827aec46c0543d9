import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateSnapshot } from '../../src/cli/generate.js';
import { type PackOptions, type PackSummary, packSnapshot } from '../../src/cli/pack.js';
import { type Point, renderPoint } from '../../src/model/point.js';
import { makeFolder } from './folder.js';
import { CREATED_AT, point } from './native.js';

export const FIXTURES: string = fileURLToPath(new URL('../../../test/fixtures', import.meta.url));
export const SAMPLE: string = join(FIXTURES, 'native/sample.waypost');
/** Enough to need sorting. */
export const MANY: string = join(FIXTURES, 'points.ndjson');
export const POINTS: readonly Point[] = [
  point({ id: 3, comment: 'työ', tags: ['a'] }),
  point({ id: 1, lat: -90, lon: 180 }),
  point({ id: 2, lat: 0, lon: 0, created_at: '2020-02-29T23:59:59.999999-03:30' }),
];

/** Packs a file; returns what came of it, and what was printed. */
export async function pack(
  input: string,
  output: string,
  options: PackOptions = {},
): Promise<[PackSummary, string]> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const summary = await packSnapshot(input, output, { print, ...options });
  return [summary, lines.join('\n')];
}

/** A folder with rows.ndjson: the three points and these further lines. */
export async function withRows(
  further: readonly string[],
  run: (input: string, output: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = makeFolder();
  const input = join(folder, 'rows.ndjson');
  writeFileSync(input, [...POINTS.map(renderPoint), ...further, ''].join('\n'));
  utimesSync(input, CREATED_AT / 1000, CREATED_AT / 1000);
  await run(input, join(folder, 'out.waypost'), folder);
}

/** Writes invented points to a file of the folder, in the form of its name; returns its bytes. */
export async function generate(
  folder: string,
  name: string,
  options: { points: number; seed: number },
): Promise<Buffer> {
  const out = join(folder, name);
  await generateSnapshot({ ...options, out, print: () => {} });
  return readFileSync(out);
}
