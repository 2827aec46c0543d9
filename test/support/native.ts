import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Packr, pack, Unpackr } from 'msgpackr';
import * as assert from 'uvu/assert';
import type { PointBlock } from '../../src/formats/block.js';
import { type NativeReader, openNative } from '../../src/formats/native/read.js';
import { type NativeTotals, NativeWriter } from '../../src/formats/native/write.js';
import { storePoint } from '../../src/formats/record-layout.js';
import type { LoadReport, SnapshotReader, Watermark } from '../../src/formats/snapshot.js';
import { writeAll } from '../../src/formats/system-files.js';
import type { Notification } from '../../src/model/notification.js';
import { type Point, readPoint } from '../../src/model/point.js';
import { InputError } from '../../src/model/quote.js';
import { makeFolder } from './folder.js';
import { failure } from './uvu.js';

export const COLUMNS = ['id', 'lat', 'lon', 'createdAt', 'modifiedAt', 'length'] as const;
export const CREATED_AT: number = Date.UTC(2023, 4, 1, 12);

/** A valid point of these fields and defaults. */
export function point(fields: Record<string, unknown>): Point {
  const record = { lat: '60.17', lon: '24.94', created_at: '2023-05-01T12:00:00Z', ...fields };
  const result = readPoint(record, () => {});
  if (!('id' in result)) throw new Error(`${JSON.stringify(record)}: ${JSON.stringify(result)}`);
  return result;
}

export function blockOf(points: readonly Point[]): PointBlock {
  const records = points.map(storePoint);
  return {
    count: points.length,
    id: Float64Array.from(points, (each) => each.id),
    lat: Float64Array.from(points, (each) => Number(each.lat)),
    lon: Float64Array.from(points, (each) => Number(each.lon)),
    createdAt: Float64Array.from(points, (each) => each.createdAt.micros),
    modifiedAt: Float64Array.from(points, (each) => each.modifiedAt.micros),
    length: Uint32Array.from(records, (each) => each.length),
    // not in Buffer's shared pool: a build transfers this memory
    records: new Uint8Array(Buffer.concat(records)),
  };
}

/** Blocks of `size` points each but for the last one. */
export function blocksOf(points: readonly Point[], size: number): PointBlock[] {
  return Array.from({ length: Math.ceil(points.length / size) }, (_, block) =>
    blockOf(points.slice(block * size, (block + 1) * size)),
  );
}

export function writeNative(
  path: string,
  blocks: readonly PointBlock[],
  notifications: readonly Notification[] = [],
  watermark?: Watermark,
): NativeTotals {
  const fd = openSync(path, 'wx');
  try {
    const count = blocks.reduce((sum, block) => sum + block.count, 0);
    const labels = { origin: 'a test', count, createdAt: CREATED_AT, watermark };
    const writer = new NativeWriter((bytes) => writeAll(fd, bytes), labels);
    for (const block of blocks) writer.write(block);
    return writer.finish(notifications);
  } finally {
    closeSync(fd);
  }
}

/** Throws an InputError for what is no native file, too. */
export function openPacked(path: string): NativeReader {
  const reader = openNative(path, {});
  if (reader === undefined) throw new InputError(`${path}: no native snapshot`);
  return reader;
}

export async function readOnePass(path: string): Promise<[PointBlock[], LoadReport]> {
  return contentsOf(openPacked(path));
}

/** Reads everything and closes the reader. */
export async function contentsOf(reader: SnapshotReader): Promise<[PointBlock[], LoadReport]> {
  try {
    const blocks: PointBlock[] = [];
    for await (const block of reader.blocks()) blocks.push(block);
    return [blocks, reader.report()];
  } finally {
    reader.close();
  }
}

/** Reads a native file as builds do: the records in place, two pieces a block. */
export function readInPlace(path: string): [PointBlock[], LoadReport] {
  const reader = openPacked(path);
  try {
    const blocks = Array.from(reader.columns(), (block) => {
      // the reader reuses its memory; a structured clone would copy all of that
      const copies = COLUMNS.map((name) => [name, block[name].slice()]);
      const size = block.length.reduce((sum, length) => sum + length, 0);
      const records = new Uint8Array(size);
      return { count: block.count, ...Object.fromEntries(copies), records } as PointBlock;
    });
    let next = 0;
    let points = 0;
    reader.recordsInto((from, to) => {
      const { count, length, records } = blocks[next++]!;
      assert.equal([from, to], [points, points + count]);
      points = to;
      const cut = length.subarray(0, count >> 1).reduce((sum, each) => sum + each, 0);
      return [records.subarray(0, cut), records.subarray(cut)];
    });
    return [blocks, reader.report()];
  } finally {
    reader.close();
  }
}

export function notification(id: number, text = 'look at this'): Notification {
  const created_at = '2023-05-02T08:30:00.000000+03:00';
  const comment = { id: id + 100, user: 3, created_at, comment: text, map_data_point: 1 };
  return { id, user: 7, seen: id % 2 === 0, comment };
}

/** Runs over a native file of two blocks and two notifications, 1.5 kB. */
export async function withSample(run: (bytes: Buffer, path: string) => unknown): Promise<void> {
  const path = join(makeFolder(), 'sample.waypost');
  const first = blockOf([point({ id: 1, comment: 'työ' }), point({ id: 2, tags: ['a'] })]);
  writeNative(path, [first, blockOf([point({ id: 3 })])], [notification(1), notification(2)]);
  await run(readFileSync(path), path);
}

/** Asserts that each way of reading ends in an InputError that names the file. */
export async function refused(
  path: string,
  bytes: Uint8Array,
  what: string,
  why: RegExp = /./,
): Promise<void> {
  writeFileSync(path, bytes);
  for (const read of [readOnePass, readInPlace]) {
    const error = await failure((async () => read(path))());
    assert.instance(error, InputError, `${what}: ${error}`);
    assert.ok(error.message.startsWith(`${path}: `), what);
    assert.match(error.message, why, what);
  }
}

/** A decoded object of a native file; records stay bytes. */
export type Piece = Record<string, unknown> | Buffer | string;

const unpackr = new Unpackr({ useRecords: false });
const packr = new Packr({ useRecords: false, variableMapSize: true });
const FIXED_WIDTH = new Set(['count', 'blocks', 'points', 'notifications', 'crc']);

/** The raw frames of a native file. */
export function framesOf(file: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const end = at + 10 + file.readUInt32BE(at + 1);
    frames.push(file.subarray(at, end));
    at = end;
  }
  return frames;
}

/** The decoded objects of a native file, for tests to change. */
export function takeApart(file: Buffer): Piece[] {
  return framesOf(file).map((frame): Piece => unpackr.unpack(Buffer.from(frame.subarray(5, -5))));
}

/**
 * A native file of these pieces whose frames have right checksums; `records_crc` and the footer's
 * `crc` are computed where they are undefined.
 */
export function putTogether(pieces: readonly Piece[]): Buffer {
  const crcs: number[] = [];
  const frames: Buffer[] = [Buffer.from('a7776179706f7374', 'hex')];
  for (const [index, piece] of pieces.entries()) {
    let object: Buffer;
    if (typeof piece === 'string' || piece instanceof Buffer) {
      object = pack(piece);
    } else {
      const fields = { ...piece };
      if ('records_crc' in fields) fields['records_crc'] ??= crc32(pack(pieces[index + 1]));
      if ('crc' in fields) fields['crc'] ??= crc32(Uint32Array.from(crcs));
      object = encode(fields);
    }
    frames.push(frame(object));
    crcs.push(crc32(object));
  }
  return Buffer.concat(frames);
}

export function frame(object: Uint8Array): Buffer {
  return Buffer.concat([uint32(object.length), object, uint32(crc32(object))]);
}

/** A MessagePack number of five bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(5, 0xce);
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

function encode(map: Record<string, unknown>): Buffer {
  const isFixed = map['type'] === 'header' || map['type'] === 'footer';
  const fields = Object.entries(map).flatMap(([key, value]) => [
    packr.pack(key),
    isFixed && FIXED_WIDTH.has(key) && typeof value === 'number'
      ? uint32(value)
      : packr.pack(value),
  ]);
  const count = fields.length / 2;
  const head = count > 15 ? [0xde, 0, count] : [0x80 + count];
  return Buffer.concat([Buffer.from(head), ...fields]);
}
