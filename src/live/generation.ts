import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type Dataset, memoryOf } from '../dataset/dataset.js';
import { createEngine, type Engine } from '../query/engine.js';
import type { Notification } from '../snapshot/snapshot.js';

/** Raise it when the same points are rendered into other bytes, so that no client keeps the old ones. */
const RENDERING = 1;

/** What one snapshot serves: its points, its notifications, and how clients tell it from the next. */
export interface Generation {
  readonly engine: Engine;
  /** JSON of each user's unseen notifications, newest id first. */
  readonly unseen: ReadonlyMap<number, readonly string[]>;
  /** Of all it was made from: the same for the same files. */
  readonly digest: string;
  /** Names the generation in validators: hexadecimal. */
  readonly tag: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly exportedAt: number;
  readonly loadedAt: number;
  /** When it was exported, as an HTTP date. */
  readonly lastModified: string;
  /**
   * Gives the memory of the points back at once: waiting for the garbage collector, several generations
   * would pile up. Nothing may be asked of it afterwards; what was copied out of it stays.
   */
  dispose(): void;
}

/** The generation that requests are answered from; a request takes it once and keeps to it. */
export interface Current {
  readonly generation: Generation;
}

/** Prepares a dataset for serving; `extra` are notifications from a file of their own. */
export function createGeneration(
  dataset: Dataset,
  extra: readonly Notification[],
  digest: string,
): Generation {
  const { report } = dataset;
  return {
    engine: createEngine(dataset),
    unseen: unseenByUser([...report.notifications, ...extra]),
    digest,
    tag: createHash('sha256').update(`${RENDERING} ${digest}`).digest('hex').slice(0, 16),
    count: dataset.count,
    exportedAt: report.createdAt,
    loadedAt: Date.now(),
    lastModified: new Date(report.createdAt).toUTCString(),
    dispose: () => giveBack(memoryOf(dataset)),
  };
}

/**
 * Memory that is moved to a thread goes when the thread ends. Unmapping hundreds of megabytes takes tens of
 * milliseconds, which requests would wait for here.
 */
function giveBack(memory: ArrayBuffer[]): void {
  const thread = new Worker('', { eval: true });
  thread.postMessage(null, memory);
  thread.unref();
}

function unseenByUser(notifications: readonly Notification[]): Map<number, string[]> {
  const unseen = new Map<number, string[]>();
  const newestFirst = notifications.filter((one) => !one.seen).sort((a, b) => b.id - a.id);
  for (const { id, user, comment } of newestFirst) {
    const json = JSON.stringify({ comment, id });
    const others = unseen.get(user);
    if (others === undefined) unseen.set(user, [json]);
    else others.push(json);
  }
  return unseen;
}
