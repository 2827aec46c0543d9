import type { Exchange, PageRecords, Pieces } from './format.js';

const COMMA = 0x2c;
/** Records that are written in one piece of work, which takes a third of a millisecond at most. */
const PIECE_BYTES = 64 * 1024;

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

/** Writes a body at once, or in pieces where that takes longer. */
export function writeBody(
  body: RewrittenBody,
  { memory }: Pick<Exchange, 'memory'>,
): Buffer<ArrayBuffer> | Pieces<Buffer<ArrayBuffer>> {
  const { before, after, records, room, write } = body;
  const size = before.length + records.size + records.count * room + after.length;
  if (records.size > PIECE_BYTES) return writeInPieces(body, memory.take(size));
  const buffer = memory.take(size);
  let end = buffer.write(before, 'latin1');
  for (let i = 0; i < records.count; i++) {
    if (i > 0) buffer[end++] = COMMA;
    end = write(records.at(i), buffer, end);
  }
  end += buffer.write(after, end, 'latin1');
  return buffer.subarray(0, end);
}

function writeInPieces(
  { before, after, records, write }: RewrittenBody,
  buffer: Buffer<ArrayBuffer>,
): Pieces<Buffer<ArrayBuffer>> {
  // taken now: the rows that they are found by are the next query's then
  const all = Array.from({ length: records.count }, (_, index) => records.at(index));
  return writePieces(all);

  function* writePieces(views: readonly Uint8Array[]): Pieces<Buffer<ArrayBuffer>> {
    let end = buffer.write(before, 'latin1');
    let written = 0;
    for (const [index, record] of views.entries()) {
      if (index > 0) buffer[end++] = COMMA;
      end = write(record, buffer, end);
      written += record.length;
      if (written >= PIECE_BYTES) {
        written = 0;
        yield;
      }
    }
    end += buffer.write(after, end, 'latin1');
    return buffer.subarray(0, end);
  }
}
