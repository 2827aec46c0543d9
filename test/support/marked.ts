import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MAX_BLOCK_POINTS } from '../../src/formats/block.js';
import { makeFolder } from './folder.js';
import { blocksOf, point, writeNative } from './native.js';
import type { Fields } from './rows.js';
import { IS_SOAK } from './uvu.js';

/** Points of marked snapshot 0; snapshot n has n more. */
export const BASE_COUNT: number = IS_SOAK ? 2_000 : 400;

export function countOf(mark: number): number {
  return BASE_COUNT + mark;
}

/** Records that carry their snapshot's mark, on a lattice that spans most of the world. */
export function markedRecords(mark: number, count: number = countOf(mark)): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    comment: `mark ${mark}`,
    lat: ((index % 160) - 80).toFixed(8),
    lon: ((index % 350) - 175).toFixed(8),
    created_at: new Date(Date.UTC(2023, 0, 1) + index * 60_000).toISOString(),
  }));
}

/** A marked snapshot as NDJSON. */
export function markedLines(mark: number, count?: number): Buffer {
  const lines = markedRecords(mark, count).map((record) => `${JSON.stringify(record)}\n`);
  return Buffer.from(lines.join(''));
}

/** A marked snapshot as a native file. */
export function markedNative(mark: number, count?: number): Buffer {
  const path = join(makeFolder(), 'marked.waypost');
  const points = markedRecords(mark, count).map((record) => point(record as Fields));
  writeNative(path, blocksOf(points, MAX_BLOCK_POINTS));
  return fs.readFileSync(path);
}

/** The mark of the first record in a text. */
export function markIn(text: string): number {
  return Number(/"comment":"mark (\d+)"/.exec(text)?.[1]);
}

/** Replaces a file by renaming, as a careful batch job does. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  fs.writeFileSync(`${path}.tmp`, content);
  fs.renameSync(`${path}.tmp`, path);
}

/** A way in which batch jobs put a file in place. `n` differs each time. */
type Writer = (path: string, content: Uint8Array, n: number) => void | Promise<void>;

const CHUNKS = 8;
const PAUSE_MS = 8;
const NEWLINE = 10;

export const WRITERS: Readonly<Record<string, Writer>> = {
  rename: replaceFile,

  'overwrite in place': (path, content) => {
    fs.writeFileSync(path, content);
  },

  'slow writer': async (path, content) => {
    const size = Math.ceil(content.length / CHUNKS);
    fs.writeFileSync(path, '');
    for (let at = 0; at < content.length; ) {
      let end = Math.min(at + size, content.length);
      // half a file must not end at a line's end, like a whole one
      while (end < content.length && content[end - 1] === NEWLINE) end++;
      fs.appendFileSync(path, content.subarray(at, end));
      at = end;
      await delay(PAUSE_MS);
    }
  },

  'delete and create': async (path, content) => {
    fs.rmSync(path);
    await delay(PAUSE_MS);
    fs.writeFileSync(path, content);
  },

  'switched link': (path, content, n) => {
    const name = `target-${n}`;
    fs.writeFileSync(join(dirname(path), name), content);
    switchLink(name, path);
  },

  'link into ..data, switched': (path, content, n) => {
    const folder = dirname(path);
    fs.mkdirSync(join(folder, `..${n}`));
    fs.writeFileSync(join(folder, `..${n}`, 'points'), content);
    switchLink(`..${n}`, join(folder, '..data'));
    switchLink('..data/points', path);
  },

  'touch only': (path) => {
    fs.utimesSync(path, new Date(), new Date());
  },
};

/** Changes a link's target atomically. */
export function switchLink(target: string, path: string): void {
  fs.symlinkSync(target, `${path}.next`);
  fs.renameSync(`${path}.next`, path);
}
