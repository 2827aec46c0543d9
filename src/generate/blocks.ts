import { renderPoint } from '../model/point.js';
import { MAX_BLOCK_POINTS, type PointBlock } from '../snapshot/block.js';
import type { PointSource } from './points.js';

const NEWLINE = 0x0a;

/**
 * All points of a source, in order, block by block; a block is valid until the next is asked for.
 */
export function* pointBlocks(source: PointSource): Generator<PointBlock, void, undefined> {
  const capacity = Math.min(MAX_BLOCK_POINTS, source.count);
  const id = new Float64Array(capacity);
  const lat = new Float64Array(capacity);
  const lon = new Float64Array(capacity);
  const createdAt = new Float64Array(capacity);
  const modifiedAt = new Float64Array(capacity);
  const length = new Uint32Array(capacity);
  let records = Buffer.alloc(capacity * 320);

  for (let from = 0; from < source.count; from += capacity) {
    const count = Math.min(capacity, source.count - from);
    let end = 0;
    for (let i = 0; i < count; i++) {
      const point = source.point(from + i);
      const record = renderPoint(point);
      // a UTF-16 unit takes at most three bytes
      if (end + record.length * 3 > records.length) records = grown(records, record.length * 3);
      length[i] = records.write(record, end);
      end += length[i]!;
      id[i] = point.id;
      lat[i] = Number(point.lat);
      lon[i] = Number(point.lon);
      createdAt[i] = point.createdAt.micros;
      modifiedAt[i] = point.modifiedAt.micros;
    }
    yield {
      count,
      id: id.subarray(0, count),
      lat: lat.subarray(0, count),
      lon: lon.subarray(0, count),
      createdAt: createdAt.subarray(0, count),
      modifiedAt: modifiedAt.subarray(0, count),
      length: length.subarray(0, count),
      records: records.subarray(0, end),
    };
  }
}

/** The records of a block as NDJSON: each followed by a newline. */
export function toLines(block: PointBlock): Buffer {
  // a view: its `copy` is several times faster than `subarray` and `set`
  const records = Buffer.from(block.records.buffer, block.records.byteOffset, block.records.length);
  const lines = Buffer.allocUnsafe(block.records.length + block.count);
  let from = 0;
  let to = 0;
  for (let i = 0; i < block.count; i++) {
    const end = from + block.length[i]!;
    to += records.copy(lines, to, from, end);
    lines[to++] = NEWLINE;
    from = end;
  }
  return lines;
}

function grown(bytes: Uint8Array, more: number): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(Math.ceil(bytes.length * 1.5) + more);
  larger.set(bytes);
  return larger;
}
