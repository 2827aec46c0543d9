import KDBush from 'kdbush';
import { type ColumnBlock, MAX_BLOCK_POINTS } from '../snapshot/block.js';
import { layOut, type Source } from './build.js';
import type { DatasetParts } from './dataset.js';
import { recordLength, stretchOf } from './records.js';
import { type Tail, type TailRow, tailRecord } from './tail.js';

/**
 * Builds a dataset out of another one and the rows below `length` of its tail, from the memory that
 * they are in. Takes as long as a build from a file that is not packed, less the parsing.
 */
export function foldDataset(
  parts: DatasetParts,
  tail: Tail,
  length: TailRow,
): Promise<DatasetParts> {
  const count = parts.count + length - tail.start;
  const report = { ...parts.report, points: count };
  return layOut(sourceOf(parts, tail, length, count), () => report);
}

/** All rows of the dataset in their order, then those of the tail. */
function sourceOf(parts: DatasetParts, tail: Tail, length: TailRow, count: number): Source {
  const coords = KDBush.from(parts.kdbush).coords as Float64Array;
  const { byId, byCreatedAt, byModifiedAt, records } = parts;
  return {
    count,
    *columns() {
      for (let from = 0; from < parts.count; from += MAX_BLOCK_POINTS) {
        const to = Math.min(from + MAX_BLOCK_POINTS, parts.count);
        yield columnsOf(to - from, (i) => {
          const row = from + i;
          return {
            lon: coords[2 * row]!,
            lat: coords[2 * row + 1]!,
            id: byId.keys[byId.ranks[row]!]!,
            createdAt: byCreatedAt.keys[byCreatedAt.ranks[row]!]!,
            modifiedAt: byModifiedAt.keys[byModifiedAt.ranks[row]!]!,
            length: recordLength(records, row),
          };
        });
      }
      yield columnsOf(length - tail.start, (i) => {
        const row = tail.start + i;
        return {
          lon: tail.coords[2 * row]!,
          lat: tail.coords[2 * row + 1]!,
          id: tail.id[row]!,
          createdAt: tail.createdAt[row]!,
          modifiedAt: tail.modifiedAt[row]!,
          length: tailRecord(tail, row).length,
        };
      });
    },
    *records() {
      yield* stretchOf(records, 0, parts.count);
      const end = length === 0 ? 0 : tail.ends[length - 1]!;
      yield tail.bytes.subarray(0, end);
    },
  };
}

type Values = Readonly<Record<Exclude<keyof ColumnBlock, 'count' | 'attributes'>, number>>;

function columnsOf(count: number, valuesOf: (i: number) => Values): ColumnBlock {
  const block = {
    count,
    lon: new Float64Array(count),
    lat: new Float64Array(count),
    id: new Float64Array(count),
    createdAt: new Float64Array(count),
    modifiedAt: new Float64Array(count),
    length: new Uint32Array(count),
  };
  for (let i = 0; i < count; i++) {
    const values = valuesOf(i);
    block.lon[i] = values.lon;
    block.lat[i] = values.lat;
    block.id[i] = values.id;
    block.createdAt[i] = values.createdAt;
    block.modifiedAt[i] = values.modifiedAt;
    block.length[i] = values.length;
  }
  return block;
}
