import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Random } from '../../src/generate/random.js';
import { DISK, type Disk } from '../../src/live/journal/disk.js';

/** What the smallest part of a write is that survives a power cut or not. */
const SECTOR = 512;

type Operation =
  | { readonly kind: 'create'; readonly name: string; readonly inode: number }
  | { readonly kind: 'write'; readonly inode: number; readonly bytes: Buffer; readonly at: number }
  | { readonly kind: 'truncate'; readonly inode: number; readonly size: number }
  | { readonly kind: 'sync'; readonly inode: number }
  /** A flush that failed: the system takes what it had to write for written. */
  | { readonly kind: 'lose'; readonly inode: number }
  | { readonly kind: 'loseNames' }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'syncFolder' };

/** How much of what was not flushed survives: nothing, all of it, or parts by chance. */
export type Survival = 'none' | 'all' | Random;

/** What a process that uses a recording disk meets. Calls are counted from 0. */
export interface Fate {
  /** The call that fails once; a write fails after half of it. */
  readonly failing?: number;
  /** The process is gone before this call. */
  readonly ending?: number;
}

/**
 * The file system, which also writes down what is asked of it, so that the folder can be made as it
 * would be after a power cut.
 */
export class RecordingDisk {
  readonly operations: Operation[] = [];
  /** Of the files that there are, by name. */
  readonly #inodes = new Map<string, number>();
  #count = 0;

  /** The disk as one process sees it, and the names of the calls that it has made. */
  process({
    failing,
    ending = Number.POSITIVE_INFINITY,
  }: Fate = {}): Disk & { readonly calls: readonly string[] } {
    const { operations } = this;
    const opened = new Map<number, number>();
    const calls: string[] = [];
    /** Counts a call; returns whether it fails. */
    const isFailing = (name: keyof Disk): boolean => {
      const call = calls.push(name) - 1;
      if (call >= ending) fail('the process is gone');
      return call === failing;
    };
    const flush = async (name: 'sync' | 'syncData', fd: number): Promise<void> => {
      const inode = opened.get(fd)!;
      if (isFailing(name)) {
        operations.push({ kind: 'lose', inode });
        fail('EIO');
      }
      // what is on disk is as this record says: the disk itself need not be waited for
      await turn();
      operations.push({ kind: 'sync', inode });
    };
    return {
      calls,
      open: (path, flags, mode) => {
        if (isFailing('open')) fail('EMFILE');
        const fd = DISK.open(path, flags, mode);
        const name = basename(path);
        const known = flags === 'r+' ? this.#inodes.get(name) : undefined;
        const inode = known ?? this.#count++;
        opened.set(fd, inode);
        this.#inodes.set(name, inode);
        if (known === undefined) operations.push({ kind: 'create', name, inode });
        return fd;
      },
      close(fd) {
        opened.delete(fd);
        DISK.close(fd);
      },
      async write(fd, bytes, at) {
        const isCut = isFailing('write');
        const done = Buffer.from(isCut ? bytes.subarray(0, bytes.length >> 1) : bytes);
        operations.push({ kind: 'write', inode: opened.get(fd)!, bytes: done, at });
        await DISK.write(fd, done, at);
        if (isCut) fail('ENOSPC');
      },
      syncData: (fd) => flush('syncData', fd),
      sync: (fd) => flush('sync', fd),
      async truncate(fd, size) {
        if (isFailing('truncate')) fail('EIO');
        operations.push({ kind: 'truncate', inode: opened.get(fd)!, size });
        await DISK.truncate(fd, size);
      },
      rename: (from, to) => {
        if (isFailing('rename')) fail('EIO');
        DISK.rename(from, to);
        this.#inodes.set(basename(to), this.#inodes.get(basename(from))!);
        operations.push({ kind: 'rename', from: basename(from), to: basename(to) });
      },
      remove(path) {
        DISK.remove(path);
        operations.push({ kind: 'remove', name: basename(path) });
      },
      syncFolder() {
        if (isFailing('syncFolder')) {
          operations.push({ kind: 'loseNames' });
          fail('EIO');
        }
        operations.push({ kind: 'syncFolder' });
      },
    };
  }

  /** Fills an empty folder as the first `count` operations and a power cut would leave it. */
  fill(folder: string, count: number, survival: Survival): void {
    const files = new Map<number, CrashedFile>();
    const names = new Map<string, number>();
    let unnamed: ((names: Map<string, number>) => void)[] = [];
    /** Whether the system takes them for written. */
    let isLost = false;
    const change = (run: (names: Map<string, number>) => void): void => {
      unnamed.push(run);
      isLost = false;
    };
    for (const operation of this.operations.slice(0, count)) {
      switch (operation.kind) {
        case 'create':
          files.set(operation.inode, new CrashedFile());
          change((all) => all.set(operation.name, operation.inode));
          break;
        case 'write':
        case 'truncate':
          files.get(operation.inode)!.change(operation);
          break;
        case 'sync':
          files.get(operation.inode)!.sync();
          break;
        case 'lose':
          files.get(operation.inode)!.lose();
          break;
        case 'loseNames':
          isLost = true;
          break;
        case 'rename':
          change((all) => {
            const inode = all.get(operation.from);
            if (inode === undefined) return;
            all.delete(operation.from);
            all.set(operation.to, inode);
          });
          break;
        case 'remove':
          change((all) => all.delete(operation.name));
          break;
        case 'syncFolder':
          if (isLost) break;
          for (const run of unnamed) run(names);
          unnamed = [];
      }
    }
    // names change in the order of the operations, up to some point
    const named =
      survival === 'none'
        ? 0
        : survival === 'all'
          ? unnamed.length
          : survival.int(unnamed.length + 1);
    for (const run of unnamed.slice(0, named)) run(names);
    for (const [name, inode] of names) {
      writeFileSync(join(folder, name), files.get(inode)!.afterCut(survival));
    }
  }
}

function fail(code: string): never {
  throw Object.assign(new Error(`${code}: it fails`), { code, syscall: 'write' });
}

type Change = Extract<Operation, { kind: 'write' | 'truncate' }>;

class CrashedFile {
  /** What processes see. */
  #cached: Buffer = Buffer.alloc(0);
  #durable: Buffer = Buffer.alloc(0);
  #pending: Change[] = [];
  /** Sectors that a flush did not write, and that nobody has written to since. */
  readonly #lost = new Set<number>();

  change(change: Change): void {
    this.#pending.push(change);
    this.#cached = applied(this.#cached, change);
    for (const sector of sectorsOf(change)) this.#lost.delete(sector);
  }

  sync(): void {
    const { length } = this.#durable;
    const durable = Buffer.from(this.#cached);
    for (const sector of this.#lost) {
      const from = sector * SECTOR;
      const to = from + SECTOR;
      durable.subarray(from, to).fill(0);
      if (from < length) this.#durable.copy(durable, from, from, to);
    }
    this.#durable = durable;
    this.#pending = [];
  }

  lose(): void {
    for (const change of this.#pending) {
      for (const sector of sectorsOf(change)) this.#lost.add(sector);
    }
    this.#pending = [];
  }

  afterCut(survival: Survival): Buffer {
    if (survival === 'none') return this.#durable;
    let bytes = this.#durable;
    for (const change of this.#pending) {
      if (change.kind === 'truncate') {
        if (survival === 'all' || survival.chance(0.5)) bytes = applied(bytes, change);
        continue;
      }
      const end = change.at + change.bytes.length;
      for (let from = change.at; from < end; ) {
        const to = Math.min(end, (Math.floor(from / SECTOR) + 1) * SECTOR);
        // a sector that was lost is zeros where a later one made the file longer
        if (survival === 'all' || survival.chance(0.6)) {
          const part = change.bytes.subarray(from - change.at, to - change.at);
          bytes = applied(bytes, { ...change, bytes: part, at: from });
        }
        from = to;
      }
    }
    return bytes;
  }
}

function applied(bytes: Buffer, change: Change): Buffer {
  if (change.kind === 'truncate') return sized(bytes, change.size);
  const result = sized(bytes, Math.max(bytes.length, change.at + change.bytes.length));
  result.set(change.bytes, change.at);
  return result;
}

function sectorsOf(change: Change): number[] {
  if (change.kind === 'truncate') return [];
  const first = Math.floor(change.at / SECTOR);
  const end = Math.ceil((change.at + change.bytes.length) / SECTOR);
  return Array.from({ length: end - first }, (_, i) => first + i);
}

function sized(bytes: Buffer, size: number): Buffer {
  const result = Buffer.alloc(size);
  bytes.copy(result);
  return result;
}
