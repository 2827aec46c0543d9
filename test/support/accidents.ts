import * as fs from 'node:fs';
import { parentPort } from 'node:worker_threads';
import Sqlite from 'libsql';

/** Damage done to a file while another process owns it; `old` is an earlier copy of the file. */
export const ACCIDENTS: Readonly<Record<string, (path: string, old: string) => void>> = {
  truncated: (path) => fs.truncateSync(path, 0),
  halved: (path) => fs.truncateSync(path, fs.statSync(path).size >> 1),
  removed: (path) => fs.rmSync(path),
  'removed with the file beside it'(path) {
    fs.rmSync(path);
    fs.rmSync(`${path}-journal`);
  },
  'deprived of the file beside it': (path) => fs.rmSync(`${path}-journal`, { force: true }),
  'overwritten by an older copy': (path, old) => fs.copyFileSync(old, path),
  'overwritten by an older copy with its time'(path, old) {
    const { atime, mtime } = fs.statSync(old);
    fs.copyFileSync(old, path);
    fs.utimesSync(path, atime, mtime);
  },
  'replaced by an older copy': (path, old) => fs.renameSync(old, path),
  'overwritten by nonsense': (path) => fs.writeFileSync(path, 'x'.repeat(fs.statSync(path).size)),
  'given bytes that are no UTF-8'(path) {
    const bytes = fs.readFileSync(path);
    // the journal's name, and the hashes of bodies
    for (const { index } of bytes.toString('latin1').matchAll(/[0-9a-f]{16}/g)) bytes[index] = 0xff;
    fs.writeFileSync(path, bytes);
  },
  'replaced by another database'(path) {
    const other = new Sqlite(`${path}.x`);
    other.exec('CREATE TABLE other (id INTEGER)');
    other.close();
    fs.renameSync(`${path}.x`, path);
  },
  'replaced by nonsense': (path) => replace(path, 'nonsense'),
  'replaced by an empty file': (path) => replace(path, ''),
};

function replace(path: string, content: string): void {
  fs.writeFileSync(`${path}.x`, content);
  fs.renameSync(`${path}.x`, path);
}

/** Orders a thread of this module to cause an accident after a delay. */
export interface Ordered {
  readonly name: string;
  readonly path: string;
  readonly old: string;
  readonly ms: number;
  /** Becomes 1 after the accident. */
  readonly done: Int32Array;
}

parentPort?.on('message', ({ name, path, old, ms, done }: Ordered) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
  ACCIDENTS[name]!(path, old);
  Atomics.store(done, 0, 1);
});
