import { copyRecords, fetchRecords, type Records } from '../dataset/records.js';
import type { PageLinks } from './links.js';

const TAIL = ']}';

/**
 * The JSON of a page of points. The records are copied as the bytes they are kept as; only the few words
 * around them are written here, to memory from `allocate`. Links must be ASCII without quotes or backslashes, as pageLinks makes them.
 */
export function pointsEnvelope(
  count: number,
  links: PageLinks,
  records: Records,
  rows: Uint32Array,
  length: number,
  allocate: (bytes: number) => Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow,
): Buffer<ArrayBuffer> {
  const head = envelopeHead(count, links);
  // a comma is copied behind each record, and the last gives way to the tail
  const commas = length === 0 ? 0 : 1;
  const size = head.length + fetchRecords(records, rows, length) - commas + TAIL.length;
  const buffer = allocate(size + commas);
  buffer.write(head, 0, 'latin1');
  const end = copyRecords(records, rows, length, buffer, head.length);
  buffer.write(TAIL, end - commas, 'latin1');
  return buffer.subarray(0, size);
}

/** The JSON of a page whose records are JSON texts. */
export function envelope(count: number, links: PageLinks, records: readonly string[]): Buffer {
  return Buffer.from(envelopeHead(count, links) + records.join(',') + TAIL);
}

function envelopeHead(count: number, { next, previous }: PageLinks): string {
  const nextJson = next === null ? 'null' : `"${next}"`;
  const previousJson = previous === null ? 'null' : `"${previous}"`;
  return `{"count":${count},"next":${nextJson},"previous":${previousJson},"results":[`;
}
