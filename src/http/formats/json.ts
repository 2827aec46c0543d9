import type { Format, ListFacts } from './format.js';
import { createProjection } from './projection.js';
import { writeBody } from './rewritten.js';

/** Nanoseconds for a byte of a record that is copied and sent. */
const COPIED = 0.5;

/**
 * JSON: the records are copied as the bytes they are kept as, and only the words around them
 * written.
 */
export const JSON_FORMAT: Format = {
  name: 'json',
  parameter: 'json',
  mediaType: 'application/json',
  contentType: 'application/json',
  headers: [],
  maxBytes: Number.POSITIVE_INFINITY,
  encode({ list, records, keys }, exchange) {
    const before = beforeRecords(list);
    const after = afterRecords(list);
    if (keys !== undefined) {
      return writeBody(
        { before, after, records, room: 0, write: createProjection(keys) },
        exchange,
      );
    }
    exchange.budget.charge(records.size * COPIED);
    const buffer = exchange.memory.take(before.length + records.size + after.length);
    buffer.write(before, 0, 'latin1');
    const end = records.copy(buffer, before.length);
    buffer.write(after, end, 'latin1');
    return buffer;
  },
};

/**
 * The JSON of a page up to its first record. Links must be ASCII without quotes or backslashes, as
 * `pageLinks` makes them.
 */
export function beforeRecords(list: ListFacts | undefined): string {
  if (list === undefined) return '';
  const { next, previous } = list.links;
  const nextJson = next === null ? 'null' : `"${next}"`;
  const previousJson = previous === null ? 'null' : `"${previous}"`;
  return `{"count":${list.count},"next":${nextJson},"previous":${previousJson},"results":[`;
}

/** The JSON of a page from behind its last record. */
export function afterRecords(list: ListFacts | undefined): string {
  return list === undefined ? '' : ']}';
}
