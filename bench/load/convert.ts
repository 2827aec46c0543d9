import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Encoder } from 'msgpackr';
import { RECORD_KEYS } from '../../src/model/point.js';

/** Forms of rows that a snapshot may have, as bench/load makes them from NDJSON. */
export const ROW_FORMS = ['csv', 'geojson', 'json', 'msgpack'] as const;
export type RowForm = (typeof ROW_FORMS)[number];

interface Row {
  readonly lat: string;
  readonly lon: string;
  readonly [key: string]: unknown;
}

interface Form {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
  readonly row: (row: Row, line: string) => string | Uint8Array;
}

const FLUSH_BYTES = 1 << 20;
const encoder = new Encoder({ useRecords: false });

const FORMS: Record<RowForm, Form> = {
  csv: {
    head: `${RECORD_KEYS.join(',')}\n`,
    between: '',
    tail: '',
    row: (row) => `${RECORD_KEYS.map((name) => cell(row[name])).join(',')}\n`,
  },
  geojson: {
    head: '{"type":"FeatureCollection","features":[',
    between: ',\n',
    tail: ']}',
    row({ lat, lon, ...properties }) {
      const geometry = { type: 'Point', coordinates: [Number(lon), Number(lat)] };
      return JSON.stringify({ type: 'Feature', geometry, properties });
    },
  },
  json: { head: '[', between: ',\n', tail: ']', row: (_row, line) => line },
  msgpack: { head: '', between: '', tail: '', row: (row) => encoder.encode(row) },
};

/** Writes the records of an NDJSON file in another form, a line at a time. */
export async function convertRows(from: string, to: string, form: RowForm): Promise<void> {
  const { head, between, tail, row } = FORMS[form];
  const fd = openSync(to, 'w');
  try {
    let parts: Uint8Array[] = [Buffer.from(head)];
    let bytes = 0;
    let isFirst = true;
    for await (const line of createInterface({ input: createReadStream(from) })) {
      if (!isFirst && between !== '') parts.push(Buffer.from(between));
      isFirst = false;
      const made = row(JSON.parse(line) as Row, line);
      const part = typeof made === 'string' ? Buffer.from(made) : made;
      parts.push(part);
      bytes += part.length;
      if (bytes < FLUSH_BYTES) continue;
      writeSync(fd, Buffer.concat(parts));
      parts = [];
      bytes = 0;
    }
    parts.push(Buffer.from(tail));
    writeSync(fd, Buffer.concat(parts));
  } finally {
    closeSync(fd);
  }
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
