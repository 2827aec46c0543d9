import { sharedArray } from './memory.js';
import type { Problem } from './point.js';
import type { TimeZone } from './time-zone.js';
import { parseTimestamp } from './timestamp.js';
import { isObject, isWhole } from './units.js';

/** A user's notification of a comment, as `GET /rest/notifications/` serves it. */
export interface Notification {
  readonly id: number;
  readonly user: number;
  readonly seen: boolean;
  readonly comment: {
    readonly id: number;
    readonly user: number;
    readonly created_at: string;
    readonly comment: string;
    readonly map_data_point: number;
  };
}

/**
 * Validates a notification; returns every problem of an invalid one. With a `zone` a time without
 * an offset is local time, and `seen` may be absent; without one both are problems.
 */
export function readNotification(
  record: unknown,
  zone?: TimeZone,
): Notification | readonly Problem[] {
  const problems: Problem[] = [];
  const fail = (field: string, reason: string): void => void problems.push({ field, reason });
  const whole = (field: string, value: unknown, least: 0 | 1): number => {
    const isAbsent = value === undefined && zone !== undefined;
    const reason = isAbsent ? 'is required' : `must be a whole number from ${least} to 2^53 - 1`;
    if (!isWhole(value, least)) fail(field, reason);
    return value as number;
  };
  if (!isObject(record)) return [{ field: 'record', reason: 'must be an object' }];
  const { seen = zone === undefined ? undefined : false, comment } = record;
  const own = { id: whole('id', record['id'], 1), user: whole('user', record['user'], 0) };
  if (typeof seen !== 'boolean') fail('seen', 'must be true or false');
  if (!isObject(comment)) {
    fail('comment', 'must be an object');
    return problems;
  }
  const { comment: text, created_at: time } = comment;
  const id = whole('comment.id', comment['id'], 1);
  const user = whole('comment.user', comment['user'], 0);
  const point = whole('comment.map_data_point', comment['map_data_point'], 1);
  if (typeof text !== 'string') fail('comment.comment', 'must be text');
  else if (text.includes('\0')) fail('comment.comment', 'must not contain a NUL character');
  const createdAt = typeof time === 'string' ? parseTimestamp(time, zone) : 'must be text';
  if (typeof createdAt === 'string') fail('comment.created_at', createdAt);
  if (typeof createdAt === 'string' || problems.length > 0) return problems;
  const said = { id, user, created_at: createdAt.text, comment: text as string };
  return { ...own, seen: seen as boolean, comment: { ...said, map_data_point: point } };
}

/** Notifications that users have not seen, by user and newest id first, in memory of all threads. */
export interface Unseen {
  readonly users: Float64Array;
  /** Where the JSON of each ends in `texts`. */
  readonly ends: Uint32Array;
  readonly texts: Uint8Array;
}

export function packUnseen(all: readonly Notification[]): Unseen {
  const unseen = all.filter((one) => !one.seen).sort((a, b) => a.user - b.user || b.id - a.id);
  const texts = unseen.map(({ comment, id }) => Buffer.from(JSON.stringify({ comment, id })));
  const users = sharedArray(Float64Array, unseen.length);
  const ends = sharedArray(Uint32Array, unseen.length);
  let end = 0;
  for (const [i, { user }] of unseen.entries()) {
    end += texts[i]!.length;
    users[i] = user;
    ends[i] = end;
  }
  const bytes = new Uint8Array(new SharedArrayBuffer(end));
  for (const [i, text] of texts.entries()) bytes.set(text, ends[i]! - text.length);
  return { users, ends, texts: bytes };
}
