import { copyPage, fetchPage } from '../../dataset/record-page.js';
import type { Records } from '../../dataset/records.js';
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
  const page = fetchPage(records, rows, length);
  const buffer = allocate(head.length + page.size + TAIL.length);
  buffer.write(head, 0, 'latin1');
  const end = copyPage(page, buffer, head.length);
  buffer.write(TAIL, end, 'latin1');
  return buffer;
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
