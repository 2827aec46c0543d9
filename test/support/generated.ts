import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSnapshot } from '../../src/cli/generate.js';
import type { PointBlock } from '../../src/formats/block.js';

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

/** The records of a block as texts. */
export function recordsOf(block: PointBlock): string[] {
  const bytes = Buffer.from(block.records);
  let end = 0;
  return Array.from(block.length, (length) => {
    end += length;
    return bytes.toString('utf8', end - length, end);
  });
}
