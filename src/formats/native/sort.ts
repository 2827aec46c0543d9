import KDBush from 'kdbush';
import { allocateColumns, MAX_BLOCK_POINTS, type PointBlock } from '../block.js';
import { isInKdOrder, KD_NODE_SIZE } from '../kd-order.js';
import { MAX_RECORDS_SIZE } from './format.js';

/**
 * Yields the points of blocks in kd-tree order, so that loads need not sort. The same points make
 * the same blocks, however they were cut. Takes memory for one block more, and 28 bytes a point.
 */
export function* sortBlocks(blocks: readonly PointBlock[]): Generator<PointBlock> {
  const ids = kdIds(blocks);
  const places = placesOf(blocks, ids.length);
  for (let row = 0; row < ids.length; ) {
    const block = gather(blocks, places, ids.subarray(row, row + MAX_BLOCK_POINTS));
    row += block.count;
    yield block;
  }
}

/** The point at each place of the order; points that stand in order stay. */
function kdIds(blocks: readonly PointBlock[]): Uint16Array | Uint32Array {
  const kdbush = new KDBush(
    blocks.reduce((sum, { count }) => sum + count, 0),
    KD_NODE_SIZE,
  );
  for (const { count, lon, lat } of blocks) {
    for (let i = 0; i < count; i++) kdbush.add(lon[i]!, lat[i]!);
  }
  return isInKdOrder(kdbush.coords as Float64Array) ? kdbush.ids : kdbush.finish().ids;
}

/** The block of each point, its place there, and where its record starts. */
function placesOf(blocks: readonly PointBlock[], count: number) {
  const block = new Uint32Array(count);
  const index = new Uint16Array(count);
  const start = new Uint32Array(count);
  let point = 0;
  for (const [number, { count: points, length }] of blocks.entries()) {
    let end = 0;
    for (let i = 0; i < points; i++, point++) {
      block[point] = number;
      index[point] = i;
      start[point] = end;
      end += length[i]!;
    }
  }
  return { block, index, start };
}

/** A block of these points, in this order, or of the first ones that fit. */
function gather(
  blocks: readonly PointBlock[],
  places: ReturnType<typeof placesOf>,
  ids: Uint16Array | Uint32Array,
): PointBlock {
  const lengthOf = (id: number): number => blocks[places.block[id]!]!.length[places.index[id]!]!;
  let count = 0;
  let size = 0;
  for (; count < ids.length; count++) {
    const length = lengthOf(ids[count]!);
    if (size + length > MAX_RECORDS_SIZE) break;
    size += length;
  }
  const gathered = { ...allocateColumns(count), records: Buffer.allocUnsafeSlow(size) };
  let end = 0;
  for (let i = 0; i < count; i++) {
    const id = ids[i]!;
    const from = blocks[places.block[id]!]!;
    const index = places.index[id]!;
    const start = places.start[id]!;
    const length = from.length[index]!;
    gathered.id[i] = from.id[index]!;
    gathered.lat[i] = from.lat[index]!;
    gathered.lon[i] = from.lon[index]!;
    gathered.createdAt[i] = from.createdAt[index]!;
    gathered.modifiedAt[i] = from.modifiedAt[index]!;
    gathered.length[i] = length;
    gathered.records.set(from.records.subarray(start, start + length), end);
    end += length;
  }
  return gathered;
}
