import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from './marked.js';

/** A way of putting a file in place that batch jobs have. `n` differs each time. */
export type Writer = (path: string, content: Uint8Array, n: number) => void | Promise<void>;

const CHUNKS = 8;
const PAUSE_MS = 8;
const NEWLINE = 10;

export const WRITERS: Readonly<Record<string, Writer>> = {
  rename: replaceFile,

  'overwrite in place': (path, content) => {
    writeFileSync(path, content);
  },

  'slow writer': async (path, content) => {
    const fd = openSync(path, 'w');
    const size = Math.ceil(content.length / CHUNKS);
    for (let at = 0; at < content.length; ) {
      let end = Math.min(at + size, content.length);
      // half a file must not look like a whole one
      while (end < content.length && content[end - 1] === NEWLINE) end++;
      writeSync(fd, content.subarray(at, end));
      at = end;
      await delay(PAUSE_MS);
    }
    closeSync(fd);
  },

  'delete and create': async (path, content) => {
    rmSync(path);
    await delay(PAUSE_MS);
    writeFileSync(path, content);
  },

  'switched link': (path, content, n) => {
    const name = `target-${n}`;
    writeFileSync(join(dirname(path), name), content);
    switchLink(name, path);
  },

  'link into ..data, switched': (path, content, n) => {
    const folder = dirname(path);
    mkdirSync(join(folder, `..${n}`));
    writeFileSync(join(folder, `..${n}`, 'points'), content);
    switchLink(`..${n}`, join(folder, '..data'));
    switchLink('..data/points', path);
  },

  'touch only': (path) => {
    utimesSync(path, new Date(), new Date());
  },
};

/** Points a link elsewhere in one step. */
export function switchLink(target: string, path: string): void {
  symlinkSync(target, `${path}.next`);
  renameSync(`${path}.next`, path);
}
