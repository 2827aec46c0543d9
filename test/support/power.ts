import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Random } from '../../src/generate/random.js';
import { DISK, type Disk } from '../../src/live/journal/disk.js';

/** What the smallest part of a write is that survives a power cut or not. */
const SECTOR = 512;

type Operation =
  | { readonly kind: 'create'; readonly name: string; readonly inode: number }
  | { readonly kind: 'write'; readonly inode: number; readonly bytes: Buffer; readonly at: number }
  | { readonly kind: 'truncate'; readonly inode: number; readonly size: number }
  | { readonly kind: 'sync'; readonly inode: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'syncFolder' };

/** How much of what was not flushed survives: nothing, all of it, or parts by chance. */
export type Survival = 'none' | 'all' | Random;

/**
 * The file system, which also writes down what is asked of it, so that the folder can be made as it
 * would be after a power cut.
 */
export class RecordingDisk implements Disk {
  readonly operations: Operation[] = [];
  readonly #inodes = new Map<number, number>();
  #count = 0;

  open(path: string, flags: 'r+' | 'w+', mode?: number): number {
    const fd = DISK.open(path, flags, mode);
    const inode = this.#count++;
    this.#inodes.set(fd, inode);
    if (flags === 'r+') throw new Error('a recording begins with an empty folder');
    this.operations.push({ kind: 'create', name: basename(path), inode });
    return fd;
  }

  close(fd: number): void {
    this.#inodes.delete(fd);
    DISK.close(fd);
  }

  async write(fd: number, bytes: Uint8Array, position: number): Promise<void> {
    const inode = this.#inode(fd);
    this.operations.push({ kind: 'write', inode, bytes: Buffer.from(bytes), at: position });
    await DISK.write(fd, bytes, position);
  }

  async syncData(fd: number): Promise<void> {
    await DISK.syncData(fd);
    this.operations.push({ kind: 'sync', inode: this.#inode(fd) });
  }

  async sync(fd: number): Promise<void> {
    await DISK.sync(fd);
    this.operations.push({ kind: 'sync', inode: this.#inode(fd) });
  }

  async truncate(fd: number, size: number): Promise<void> {
    this.operations.push({ kind: 'truncate', inode: this.#inode(fd), size });
    await DISK.truncate(fd, size);
  }

  rename(from: string, to: string): void {
    DISK.rename(from, to);
    this.operations.push({ kind: 'rename', from: basename(from), to: basename(to) });
  }

  remove(path: string): void {
    DISK.remove(path);
    this.operations.push({ kind: 'remove', name: basename(path) });
  }

  syncFolder(path: string): void {
    DISK.syncFolder(path);
    this.operations.push({ kind: 'syncFolder' });
  }

  /** Fills an empty folder as the first `count` operations and a power cut would leave it. */
  fill(folder: string, count: number, survival: Survival): void {
    const files = new Map<number, CrashedFile>();
    const names = new Map<string, number>();
    let unnamed: ((names: Map<string, number>) => void)[] = [];
    for (const operation of this.operations.slice(0, count)) {
      switch (operation.kind) {
        case 'create':
          files.set(operation.inode, new CrashedFile());
          unnamed.push((all) => all.set(operation.name, operation.inode));
          break;
        case 'write':
        case 'truncate':
          files.get(operation.inode)!.pending.push(operation);
          break;
        case 'sync':
          files.get(operation.inode)!.sync();
          break;
        case 'rename':
          unnamed.push((all) => {
            const inode = all.get(operation.from);
            if (inode === undefined) return;
            all.delete(operation.from);
            all.set(operation.to, inode);
          });
          break;
        case 'remove':
          unnamed.push((all) => all.delete(operation.name));
          break;
        case 'syncFolder':
          for (const change of unnamed) change(names);
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
    for (const change of unnamed.slice(0, named)) change(names);
    for (const [name, inode] of names) {
      writeFileSync(join(folder, name), files.get(inode)!.afterCut(survival));
    }
  }

  #inode(fd: number): number {
    return this.#inodes.get(fd)!;
  }
}

type Change = Extract<Operation, { kind: 'write' | 'truncate' }>;

class CrashedFile {
  pending: Change[] = [];
  #durable: Buffer = Buffer.alloc(0);

  sync(): void {
    this.#durable = this.afterCut('all');
    this.pending = [];
  }

  afterCut(survival: Survival): Buffer {
    if (survival === 'none') return this.#durable;
    let bytes = this.#durable;
    for (const change of this.pending) {
      if (change.kind === 'truncate') {
        if (survival === 'all' || survival.chance(0.5)) bytes = sized(bytes, change.size);
        continue;
      }
      const end = change.at + change.bytes.length;
      for (let from = change.at; from < end; ) {
        const to = Math.min(end, (Math.floor(from / SECTOR) + 1) * SECTOR);
        // a sector that was lost is zeros where a later one made the file longer
        if (survival === 'all' || survival.chance(0.6)) {
          bytes = sized(bytes, Math.max(bytes.length, to));
          bytes.set(change.bytes.subarray(from - change.at, to - change.at), from);
        }
        from = to;
      }
    }
    return bytes;
  }
}

function sized(bytes: Buffer, size: number): Buffer {
  const result = Buffer.alloc(size);
  bytes.copy(result);
  return result;
}
