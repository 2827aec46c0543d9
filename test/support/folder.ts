import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
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

/** The path of a new file in a folder of its own. */
export function makeFile(content: string | Uint8Array, name = 'points'): string {
  const path = join(makeFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** Writes a file that was changed at a time, in seconds since the epoch. */
export function writeAged(path: string, seconds: number, content: string | Uint8Array = 'x'): void {
  writeFileSync(path, content);
  utimesSync(path, seconds, seconds);
}

export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** How many files there are in a folder and those inside it. */
export function filesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

/** What the runner closes after the file's last test. */
const open: (() => unknown)[] = [];

/** Registers a call for after the file's last test; the last registered runs first. */
export function closeLater(close: () => unknown): void {
  open.push(close);
}

export async function closeAll(): Promise<void> {
  for (let close = open.pop(); close !== undefined; close = open.pop()) await close();
}
