import type { Exchange, PageRecords } from './format.js';

const COMMA = 0x2c;
/** Nanoseconds for a byte of a record that is written. */
const BYTE = 4;

/** A body whose records are not copied as they are kept. */
export interface RewrittenBody {
  /** What stands around the records, in ASCII. */
  readonly before: string;
  readonly after: string;
  readonly records: PageRecords;
  /** Bytes that a record may need more than it has. */
  readonly room: number;
  /** Writes a record to `target` from `at` on; returns where it ends. */
  readonly write: (record: Uint8Array, target: Uint8Array, at: number) => number;
}

/** Writes a body. */
export function writeBody(
  { before, after, records, room, write }: RewrittenBody,
  { memory, budget }: Pick<Exchange, 'memory' | 'budget'>,
): Buffer<ArrayBuffer> {
  budget.expect(records.size * BYTE);
  const size = before.length + records.size + records.count * room + after.length;
  const buffer = memory.take(size);
  let end = buffer.write(before, 'latin1');
  for (let i = 0; i < records.count; i++) {
    if (i > 0) buffer[end++] = COMMA;
    const record = records.at(i);
    budget.charge(record.length * BYTE);
    end = write(record, buffer, end);
  }
  end += buffer.write(after, end, 'latin1');
  return buffer.subarray(0, end);
}
