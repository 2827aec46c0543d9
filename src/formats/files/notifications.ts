import { type Notification, readNotification } from '../../model/notification.js';
import { InputError } from '../../model/quote.js';
import { openTimeZone } from '../../model/time-zone.js';
import { IdSet } from '../id-set.js';
import { detectFormat } from '../rows/detect.js';
import { nameFile, PARSERS } from '../rows/reader.js';
import { ProblemLog } from '../rows/row.js';
import { RowFile } from '../rows/row-file.js';
import type { ReadOptions } from '../snapshot.js';

/**
 * Reads a file of notifications, gzipped or not: NDJSON, a JSON array, or an object with a list
 * `results`. Throws an InputError with the first problems where one is invalid.
 */
export async function readNotifications(
  path: string,
  { timeZone }: Pick<ReadOptions, 'timeZone'> = {},
): Promise<Notification[]> {
  const zone = await openTimeZone(timeZone);
  const format = await detectFormat(path);
  if (format !== 'ndjson' && format !== 'json') {
    throw new InputError(
      `${path}: notifications must be NDJSON, a JSON array, or an object with a list ` +
        `"results", got ${format}`,
    );
  }
  const source = new RowFile(path);
  const log = new ProblemLog(format);
  const ids = new IdSet();
  const notifications: Notification[] = [];
  try {
    for await (const rows of PARSERS[format](source.chunks())) {
      for (const row of rows) {
        const result =
          row.problem === undefined ? readNotification(row.value, zone) : [row.problem];
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
