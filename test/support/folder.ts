import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new folder, which is removed when the test process ends. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-'));
  folders.push(folder);
  return folder;
}
