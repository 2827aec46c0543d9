import { InputError } from '../errors.js';
import type { Problem } from '../model/point.js';
import { parseTimestamp } from '../model/timestamp.js';
import { detectFormat } from './rows/detect.js';
import { IdSet } from './rows/id-set.js';
import { ProblemLog } from './rows/problem-log.js';
import { nameFile, PARSERS } from './rows/reader.js';
import { Source } from './rows/source.js';
import type { Notification } from './snapshot.js';

type Fields = Readonly<Record<string, unknown>>;
type Fail = (field: string, reason: string) => void;

/**
 * Reads a file of notifications, gzipped or not: NDJSON, a JSON array, or an object with a list
 * `results`. Throws an InputError that lists the first problems when any of them is invalid.
 */
export async function readNotifications(path: string): Promise<Notification[]> {
  const format = await detectFormat(path);
  if (format !== 'ndjson' && format !== 'json') {
    throw new InputError(
      `${path}: notifications must be NDJSON, a JSON array, or an object with a list "results", got ${format}`,
    );
  }
  const source = new Source(path);
  const log = new ProblemLog(format);
  const ids = new IdSet();
  const notifications: Notification[] = [];
  try {
    for await (const rows of PARSERS[format](source.chunks())) {
      for (const row of rows) {
        const result = row.problem === undefined ? readNotification(row.value) : [row.problem];
        if (!('id' in result)) log.add(row.place, result);
        else if (ids.add(result.id)) notifications.push(result);
        else log.add(row.place, [{ field: 'id', reason: `${result.id} is an earlier record's` }]);
      }
    }
  } catch (error) {
    throw nameFile(source, error);
  } finally {
    source.close();
  }
  if (log.invalid > 0) {
    const total = log.invalid + notifications.length;
    throw log.error(path, `${log.invalid} of ${total} notifications are invalid; the first:`);
  }
  return notifications;
}

/** Every field checked: the notification, or every problem found. */
function readNotification(record: unknown): Notification | Problem[] {
  const problems: Problem[] = [];
  const fail: Fail = (field, reason) => problems.push({ field, reason });
  if (!isObject(record)) return [{ field: 'record', reason: 'must be an object' }];
  const { id, user, seen = false, comment } = record;
  checkWhole('id', id, 1, fail);
  checkWhole('user', user, 0, fail);
  if (typeof seen !== 'boolean') fail('seen', 'must be true or false');
  if (!isObject(comment)) {
    fail('comment', 'must be an object');
    return problems;
  }
  const { comment: text, created_at: time } = comment;
  checkWhole('comment.id', comment['id'], 1, fail);
  checkWhole('comment.user', comment['user'], 0, fail);
  checkWhole('comment.map_data_point', comment['map_data_point'], 1, fail);
  if (typeof text !== 'string') fail('comment.comment', 'must be text');
  else if (text.includes('\0')) fail('comment.comment', 'must not contain a NUL character');
  const createdAt = typeof time === 'string' ? parseTimestamp(time) : 'must be text';
  if (typeof createdAt === 'string') {
    fail('comment.created_at', createdAt);
    return problems;
  }
  if (problems.length > 0) return problems;
  return {
    id: id as number,
    user: user as number,
    seen: seen as boolean,
    comment: {
      id: comment['id'] as number,
      user: comment['user'] as number,
      created_at: createdAt.text,
      comment: text as string,
      map_data_point: comment['map_data_point'] as number,
    },
  };
}

function checkWhole(field: string, value: unknown, least: 0 | 1, fail: Fail): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  const reason = `must be a whole number from ${least} to 2^53 - 1`;
  fail(field, value === undefined ? 'is required' : reason);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
