import { isUtf8 } from 'node:buffer';
import { inert } from '../../model/quote.js';
import { readRendered } from './canonical.js';
import { featureRow, isFeature } from './geojson.js';
import { type Line, LineSplitter } from './lines.js';
import { isBlank, NOT_UTF8, type Row, TOO_LONG } from './row.js';

/**
 * A JSON value a line, or one behind each record separator (RFC 8142); blank ones are passed over.
 * A GeoJSON Feature stands for its record. No line can break the file: one that is too long, no
 * UTF-8 or no JSON is a problem of its own.
 */
export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const lines = new LineSplitter();
  for await (const chunk of chunks) {
    const rows: Row[] = [];
    lines.add(chunk);
    for (let line = lines.nextFilled(); line !== undefined; line = lines.nextFilled()) {
      pushRow(rows, line);
    }
    yield rows;
  }
  const line = lines.last();
  const rows: Row[] = [];
  if (line !== undefined) pushRow(rows, line);
  yield rows;
}

function pushRow(rows: Row[], { place, bytes }: Line): void {
  const point = bytes === undefined ? undefined : readRendered(bytes);
  if (point !== undefined) {
    rows.push({ place, value: point });
  } else if (bytes === undefined) {
    rows.push({ place, problem: TOO_LONG });
  } else if (!isUtf8(bytes)) {
    rows.push({ place, problem: { field: 'record', reason: NOT_UTF8 } });
  } else if (!isBlank(bytes)) {
    rows.push(parse(place, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()));
  }
}

function parse(place: number, text: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = `is not valid JSON: ${inert((error as Error).message)}`;
    return { place, problem: { field: 'record', reason } };
  }
  return isFeature(value) ? featureRow(place, value) : { place, value };
}
