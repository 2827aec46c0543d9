import { parseTimestamp, type Timestamp } from '../model/timestamp.js';
import type { Post } from './journal.js';

/**
 * A post as a line of NDJSON: the record as the service answers it, then its `sequence` and, where
 * there are some, the `key` that its client sent, the `user` of the token, the hash of the `body`,
 * and the id under which it was acknowledged, `moved_from`. A snapshot reader drops all of these.
 */
export function postLine({ sequence, record, key, movedFrom }: Post): string {
  const [user, ...rest] = key?.name.split(' ') ?? [];
  const facts = JSON.stringify({
    sequence,
    key: key && rest.join(' '),
    user: user === undefined || user === '-' ? undefined : Number(user),
    body: key?.body,
    moved_from: movedFrom,
  });
  return `${record.slice(0, -1)},${facts.slice(1)}\n`;
}

/** Reads a line that {@link postLine} wrote. Throws a SyntaxError for any other. */
export function readPostLine(line: string): Post {
  const { sequence, key, user = '-', body, moved_from: movedFrom, ...record } = JSON.parse(line);
  return {
    ...{ sequence, id: record.id, record: JSON.stringify(record) },
    createdAt: (parseTimestamp(record.created_at) as Timestamp).micros,
    ...(key !== undefined && { key: { name: `${user} ${key}`, body } }),
    ...(movedFrom !== undefined && { movedFrom }),
  };
}
