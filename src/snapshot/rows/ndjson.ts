import { isUtf8 } from 'node:buffer';
import { LineSplitter } from './lines.js';
import { isBlank, type Row, TOO_LONG } from './row.js';

/**
 * A JSON value a line; blank lines are passed over. No line can break the file: one that is too long,
 * no UTF-8 or no JSON is a problem of its own.
 */
export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const lines = new LineSplitter();
  for await (const chunk of chunks) {
    const rows: Row[] = [];
    lines.add(chunk);
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      pushRow(rows, line.place, line.bytes);
    }
    yield rows;
  }
  const line = lines.last();
  const rows: Row[] = [];
  if (line !== undefined) pushRow(rows, line.place, line.bytes);
  yield rows;
}

function pushRow(rows: Row[], place: number, bytes: Uint8Array | undefined): void {
  if (bytes === undefined) {
    rows.push({ place, problem: TOO_LONG });
  } else if (!isUtf8(bytes)) {
    rows.push({ place, problem: { field: 'record', reason: 'is not valid UTF-8' } });
  } else if (!isBlank(bytes)) {
    rows.push(parse(place, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()));
  }
}

function parse(place: number, text: string): Row {
  try {
    return { place, value: JSON.parse(text) };
  } catch (error) {
    const reason = `is not valid JSON: ${(error as Error).message}`;
    return { place, problem: { field: 'record', reason } };
  }
}
