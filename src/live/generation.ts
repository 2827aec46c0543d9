import { createHash } from 'node:crypto';
import { assembleDataset, type DatasetParts } from '../dataset/dataset.js';
import { lastSequence, type Tail, tailLength } from '../dataset/tail.js';
import type { Notification } from '../model/notification.js';
import { createEngine, type Engine } from '../query/engine.js';

/**
 * Part of every tag: raise `RENDERING` when the same points are rendered into other bytes, so that
 * no client keeps the old ones.
 */
const RENDERING = 1;

/**
 * What a generation is made from, as threads pass it on to each other: the points' memory is
 * shared.
 */
export interface GenerationParts {
  readonly dataset: DatasetParts;
  /** Notifications from a file of their own. */
  readonly extra: readonly Notification[];
  /** The digest of all that the generation was made from: the same for the same files. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly loadedAt: number;
  /** The points that were accepted since; undefined where none are taken. */
  readonly tail?: Tail | undefined;
  /**
   * Names the accepted points that the snapshot was first served with; empty where there were none.
   * Points that are merged later do not change it.
   */
  readonly waiting?: string;
}

/**
 * What one snapshot serves: its points, its notifications, and how clients tell it from the next.
 */
export interface Generation {
  readonly parts: GenerationParts;
  readonly engine: Engine;
  readonly tail: Tail | undefined;
  /** JSON of each user's unseen notifications, newest id first. */
  readonly unseen: ReadonlyMap<number, readonly string[]>;
  /**
   * Names the snapshot in validators: hexadecimal. The same for all generations that accepted
   * points were merged into.
   */
  readonly tag: string;
  /** Names the load of the snapshot in this process, and all generations that came of it. */
  readonly lineage: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly exportedAt: number;
  readonly loadedAt: number;
  /** When it was exported, as an HTTP date. */
  readonly lastModified: string;
}

/**
 * Prepares a snapshot for serving, in a few milliseconds; each thread that serves does so for
 * itself.
 */
export function createGeneration(parts: GenerationParts): Generation {
  const { extra, loadedAt, tail } = parts;
  const dataset = assembleDataset(parts.dataset);
  const { report } = dataset;
  return {
    parts,
    engine: createEngine(dataset),
    tail,
    unseen: unseenByUser([...report.notifications, ...extra]),
    ...namesOf(parts),
    count: dataset.count,
    exportedAt: report.createdAt,
    loadedAt,
    lastModified: new Date(report.createdAt).toUTCString(),
  };
}

/** The same generation with a first tail; `name` names the points that were added to its snapshot. */
export function withTail(generation: Generation, tail: Tail, name: string): Generation {
  const waiting = (generation.parts.waiting ?? '') + name;
  const parts = { ...generation.parts, tail, waiting };
  return { ...generation, parts, tail, ...namesOf(parts) };
}

function namesOf(parts: GenerationParts): Pick<Generation, 'tag' | 'lineage'> {
  const { digest, waiting = '', loadedAt } = parts;
  const hash = createHash('sha256').update(`${RENDERING} ${digest}${waiting}`).digest('hex');
  const tag = hash.slice(0, 16);
  return { tag, lineage: `${tag} ${loadedAt}` };
}

/** Points that are served: those of the snapshot, and those that were accepted beside it. */
export function pointsServed({ count, tail }: Generation): number {
  return tail === undefined ? count : count + tailLength(tail) - tail.start;
}

/** The sequence up to which all posts are served, or were passed over; 0 without a journal. */
export function servedSequence({ tail }: Pick<Generation, 'tail'>): number {
  return tail === undefined ? 0 : lastSequence(tail, tailLength(tail));
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
