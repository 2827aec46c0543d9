import {
  copyFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { parentPort } from 'node:worker_threads';

/** Damage done to a file while another process owns it; `old` is an earlier copy of the file. */
export const ACCIDENTS: Readonly<Record<string, (path: string, old: string) => void>> = {
  truncated: (path) => truncateSync(path, 0),
  halved: (path) => truncateSync(path, statSync(path).size >> 1),
  removed: (path) => rmSync(path),
  'removed with the file beside it'(path) {
    rmSync(path);
    rmSync(`${path}-journal`);
  },
  'deprived of the file beside it': (path) => rmSync(`${path}-journal`, { force: true }),
  'overwritten by an older copy': (path, old) => copyFileSync(old, path),
  'overwritten by an older copy with its time'(path, old) {
    const { atime, mtime } = statSync(old);
    copyFileSync(old, path);
    utimesSync(path, atime, mtime);
  },
  'replaced by an older copy': (path, old) => renameSync(old, path),
  'overwritten by nonsense': (path) => writeFileSync(path, 'x'.repeat(statSync(path).size)),
  'replaced by nonsense': (path) => replace(path, 'nonsense'),
  'replaced by an empty file': (path) => replace(path, ''),
};

function replace(path: string, content: string): void {
  writeFileSync(`${path}.x`, content);
  renameSync(`${path}.x`, path);
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
