import { createProjection, renderedLength, type WriteRecord } from '../../formats/record-layout.js';
import type { Exchange, Format, ListFacts, Page, PageRecords } from './representation.js';

/** Nanoseconds for a byte of a record that is copied and sent. */
const COPIED = 0.5;

export const JSON_FORMAT: Format = {
  name: 'json',
  parameter: 'json',
  mediaType: 'application/json',
  encode(page, exchange) {
    const { list } = page;
    if (list === undefined) return encodeJson('', page, '', exchange);
    return encodeJson(beforeRecords(list), page, ']}', exchange);
  },
};

/** An answer of a batch: a list on one line, without links, since no address has its pages. */
export const LINE_FORMAT: Format = {
  ...JSON_FORMAT,
  name: 'line',
  isPart: true,
  mediaType: 'application/x-ndjson',
  encode(page, exchange) {
    return encodeJson(`{"count":${page.list!.count},"results":[`, page, ']}\n', exchange);
  },
};

function encodeJson(
  before: string,
  { records, keys }: Page,
  after: string,
  exchange: Exchange,
): Buffer<ArrayBuffer> {
  if (keys !== undefined) {
    return writeBody(records, createProjection(keys), exchange, { before, after });
  }
  exchange.budget.charge(records.size * COPIED);
  const buffer = exchange.memory.take(before.length + records.size + after.length);
  buffer.write(before, 0, 'latin1');
  const end = records.copy(buffer, before.length);
  buffer.write(after, end, 'latin1');
  return buffer;
}

/** The JSON of a page up to its first record; links are ASCII without quotes or backslashes. */
function beforeRecords(list: ListFacts): string {
  const { next, previous } = list.links();
  const nextJson = next === null ? 'null' : `"${next}"`;
  const previousJson = previous === null ? 'null' : `"${previous}"`;
  return `{"count":${list.count},"next":${nextJson},"previous":${previousJson},"results":[`;
}

const MEDIA_TYPE = 'application/vnd.oai.openapi+json';

/** The OpenAPI document by the type that links of OGC API - Features give it. */
export const OPENAPI: Format = ofVersion('3.1', 'openapi');
/** For clients that read version 3.0 only, such as GDAL and OWSLib. */
export const OPENAPI_30: Format = ofVersion('3.0', 'openapi30');

function ofVersion(version: string, name: string): Format {
  const mediaType = `${MEDIA_TYPE};version=${version}`;
  return { ...JSON_FORMAT, name, parameter: name, mediaType };
}

const COMMA = 0x2c;
/** Nanoseconds for a byte of a record that is written. */
const BYTE = 4;

/** Writes points, each with up to `room` bytes more than its JSON, between ASCII texts. */
export function writeBody(
  records: PageRecords,
  write: WriteRecord,
  { memory, budget }: Pick<Exchange, 'memory' | 'budget'>,
  { before = '', after = '', room = 0 }: { before?: string; after?: string; room?: number },
): Buffer<ArrayBuffer> {
  budget.expect(records.size * BYTE);
  const size = before.length + records.size + records.count * room + after.length;
  const buffer = memory.take(size);
  let end = buffer.write(before, 'latin1');
  for (let i = 0; i < records.count; i++) {
    if (i > 0) buffer[end++] = COMMA;
    const record = records.stored(i);
    budget.charge(renderedLength(record) * BYTE);
    end = write(record, buffer, end);
  }
  end += buffer.write(after, end, 'latin1');
  return buffer.subarray(0, end);
}
