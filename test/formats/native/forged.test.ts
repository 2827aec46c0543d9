import { writeFileSync } from 'node:fs';
import { renderedLength, storePoint } from '../../../src/formats/record-layout.js';
import {
  frame,
  framesOf,
  notification,
  type Piece,
  point,
  putTogether,
  readInPlace,
  readOnePass,
  refused,
  takeApart,
  withSample,
} from '../../support/native.js';
import { assert, test } from '../../support/uvu.js';

/** The sample's pieces without checksums, which are computed when the pieces are joined. */
function unsealed(bytes: Buffer): Piece[] {
  const pieces = takeApart(bytes);
  set(COLUMNS, { records_crc: undefined })(pieces);
  set(COLUMNS_2, { records_crc: undefined })(pieces);
  set(FOOTER, { crc: undefined })(pieces);
  return pieces;
}

test('the forger of the tests below makes good files, with shorter forms than ours', () =>
  withSample(async (bytes, path) => {
    const before = await readOnePass(path);
    const forged = putTogether(unsealed(bytes));
    assert.ok(forged.length < bytes.length);
    writeFileSync(path, forged);
    const after = await readOnePass(path);
    assert.ok(Buffer.from(after[0][1]!.records).equals(before[0][1]!.records));
    assert.equal(after[1].notifications, before[1].notifications);
    assert.is(readInPlace(path)[1].points, 3);
  }));

const [HEADER, COLUMNS, RECORDS, COLUMNS_2, RECORDS_2, NOTES, FOOTER] = [0, 1, 2, 3, 4, 5, 6];

type Edit = (pieces: Piece[]) => unknown;
const set =
  (piece: number, fields: Record<string, unknown>): Edit =>
  (pieces) => {
    Object.assign(pieces[piece]!, fields);
  };
const bothEnds =
  (points: number): Edit =>
  (pieces) => {
    set(HEADER, { count: points })(pieces);
    set(FOOTER, { points })(pieces);
  };
const column = (key: string, value: number): Edit => {
  const bytes = Buffer.alloc(16);
  bytes.writeDoubleLE(1, 0);
  bytes.writeDoubleLE(value, 8);
  return set(COLUMNS, { [key]: bytes });
};
const note = (fields: object): Edit => set(NOTES, { items: [{ ...notification(1), ...fields }] });
const noteComment = (fields: object): Edit =>
  note({ comment: { ...notification(1).comment, ...fields } });

/** A value that cannot become text: what it has for `toString` is no function. */
const UNSHOWABLE = { toString: 5, valueOf: 5 };

const WRONG: readonly (readonly [Edit, RegExp])[] = [
  [set(HEADER, { version: 2 }), /version 2,.* version 3/],
  [set(HEADER, { version: 0 }), /version 0,.* version 3/],
  [set(HEADER, { version: '1' }), /version must be a whole number/],
  [set(HEADER, { version: UNSHOWABLE }), /got \{"toString":5/],
  [set(COLUMNS, { count: UNSHOWABLE }), /count must be .* got \{"toString"/],
  [set(COLUMNS, { index: UNSHOWABLE }), /got block \{"toString"/],
  [set(NOTES, { type: UNSHOWABLE }), /type \{"toString":5,/],
  [set(NOTES, { type: 'x'.repeat(1e6) }), /type x{60}… has no/],
  [set(HEADER, { type: 'columns' }), /expected the header/],
  [set(HEADER, { origin: null }), /origin must be text/],
  [set(HEADER, { journal_through: '7' }), /journal_through must be a whole/],
  [set(HEADER, { journal_through: -1 }), /journal_through must be a whole/],
  [set(HEADER, { created_at: 0 }), /created_at must be text/],
  [set(HEADER, { created_at: '2023-05-01T12:00:00' }), /offset/],
  [set(HEADER, { count: 4 }), /promises 4 points, the footer counts 3/],
  [bothEnds(4), /footer says points 4, the frames before it have 3/],
  [bothEnds(2 ** 32 - 1), /4294967295 points cannot be in a file of \d+ bytes/],
  [set(FOOTER, { blocks: 3 }), /footer says blocks 3/],
  [set(FOOTER, { notifications: 9 }), /notifications 9/],
  [set(FOOTER, { crc: 1 }), /footer says crc 1/],
  [set(FOOTER, { type: 'header' }), /expected the footer/],
  [set(NOTES, { type: 'photographs000' }), /photographs000/],
  [set(COLUMNS_2, { index: 2 }), /expected block 1, got block 2/],
  [set(COLUMNS, { count: 0 }), /1 to 65536 points, got 0/],
  [set(COLUMNS, { count: 65_537 }), /1 to 65536 points/],
  [set(COLUMNS, { count: 3 }), /must be a bin of/],
  [set(COLUMNS, { count: 2 ** 31 }), /1 to 65536 points/],
  [set(COLUMNS, { count: -1 }), /count must be a whole number/],
  [set(COLUMNS, { lat: [1, 2] }), /lat must be a bin/],
  [set(COLUMNS, { lon: undefined }), /lon must be a bin/],
  [column('id', 0), /point 1 of the block: id/],
  [column('id', 1.5), /id must be/],
  [column('id', 2 ** 53), /id must be/],
  [column('id', Number.NaN), /id must be/],
  [column('lat', 90.000001), /lat must lie within ±90, got 90.000001/],
  [column('lat', Number.NaN), /lat must/],
  [column('lon', Number.NEGATIVE_INFINITY), /lon must lie within ±180/],
  [column('lon', -180.5), /lon must/],
  [column('created_at', 0.5), /whole microseconds/],
  [column('modified_at', Number.NaN), /whole microseconds/],
  [set(COLUMNS, { length: bytes32(64, 90) }), /length must be 65 to 262142/],
  [set(COLUMNS, { length: bytes32(262_144, 90) }), /got 262144/],
  [
    (pieces) => {
      const comment = 'c'.repeat(262_143 - renderedLength(storePoint(point({ id: 1 }))));
      const record = storePoint(point({ id: 1, comment }));
      const last = pieces[RECORDS] as Buffer;
      const { length } = pieces[COLUMNS] as { length: Buffer };
      const records = Buffer.concat([record, last.subarray(length.readUInt32LE(0))]);
      const lengths = bytes32(record.length, length.readUInt32LE(4));
      pieces[RECORDS] = records;
      set(COLUMNS, { length: lengths, records_size: records.length })(pieces);
    },
    /record 0 of the block has 262143 bytes as JSON/,
  ],
  [set(COLUMNS, { statuses: 'NEW' }), /statuses must be a list of/],
  [set(COLUMNS, { statuses: [7] }), /statuses must be a list of texts/],
  [set(COLUMNS, { tag_texts: undefined }), /tag_texts must be a list of texts/],
  [set(COLUMNS, { status: bytes32(0, 1) }), /point 1 of the block: status must be below 1, got 1/],
  [set(COLUMNS, { status: bytes32(0) }), /status must be a bin of 8 bytes/],
  [set(COLUMNS, { flags: null }), /flags must be a bin/],
  [set(COLUMNS, { flags: Buffer.of(0, 4) }), /flags must be 0 to 3, got 4/],
  [column('created_by', 0.5), /created_by must be -1 or a whole number, got 0.5/],
  [column('created_by', -2), /created_by must be -1 or/],
  [column('created_by', Number.NaN), /created_by must be/],
  [set(COLUMNS, { tags: bytes32(0, 0) }), /adds up to 1, and tags/],
  [set(COLUMNS, { tags: Buffer.alloc(5) }), /tags must be a bin of a multip/],
  [set(COLUMNS, { tags: bytes32(1) }), /tags must be below 1, got 1/],
  [
    set(COLUMNS, { tag_counts: bytes32(2 ** 32 - 1, 2 ** 32 - 1) }),
    /tag_counts adds up to 8589934590/,
  ],
  [set(COLUMNS, { length: bytes32(90, 90) }), /adds up to 180/],
  [set(COLUMNS, { records_size: 2 ** 32 - 1 }), /at most 33554432/],
  [
    (pieces) => {
      const [one, two] = [pieces[RECORDS]!, pieces[RECORDS_2]!];
      set(COLUMNS, { records_crc: 5 })(pieces);
      [pieces[RECORDS], pieces[RECORDS_2]] = [two, one];
    },
    /do not belong/,
  ],
  [(pieces) => pieces.splice(RECORDS, 1, String(pieces[RECORDS])), /one bin object/],
  [(pieces) => (pieces[RECORDS] as Buffer).write('@'), /record 0 of the block is none/],
  [
    (pieces) =>
      set(COLUMNS, { length: bytes32(70, (pieces[RECORDS]!.length as number) - 70) })(pieces),
    /record 0 of the block is none/,
  ],
  [
    (pieces) => pieces.splice(FOOTER, 0, ...pieces.slice(COLUMNS, COLUMNS + 2)),
    /type columns has no place here/,
  ],
  [set(NOTES, { items: {} }), /items must be a list/],
  [set(NOTES, { items: ['hello'] }), /notification 0.*must be an object/],
  [note({ id: undefined }), /id must be a whole number/],
  [note({ user: -7 }), /user must be a whole number/],
  [note({ seen: 1 }), /seen must be/],
  [note({ comment: null }), /comment must be an object/],
  [noteComment({ comment: 5 }), /comment.comment must be text/],
  [noteComment({ comment: 'a\0b' }), /comment.comment must not contain a NUL/],
  [note({ id: 0 }), /id must be a whole number from 1/],
  [noteComment({ created_at: 'today' }), /comment.created_at/],
  [noteComment({ map_data_point: 0.5 }), /map_data_point must be/],
];

test('what is wrong is refused though every checksum is right', () =>
  withSample(async (bytes, path) => {
    for (const [edit, why] of WRONG) {
      const pieces = unsealed(bytes);
      edit(pieces);
      await refused(path, putTogether(pieces), `${why}`, why);
    }
  }));

test('columns of an extension type are refused: their bytes are not where the file has them', () =>
  withSample(async (bytes, path) => {
    const [header, columns, ...rest] = framesOf(bytes);
    const object = columns!.subarray(5, -5);
    for (const [key, size] of Object.entries({ id: 16, length: 8, status: 8, flags: 2 })) {
      const head = Buffer.concat([Buffer.from(key), Buffer.of(0xc4, size)]);
      const at = object.indexOf(head) + key.length;
      // msgpackr's own type for typed arrays, of which 1 is Uint8Array
      const extension = Buffer.of(0xc7, size + 1, 0x74, 1);
      const extended = [object.subarray(0, at), extension, object.subarray(at + 2)];
      const frames = [header!, frame(Buffer.concat(extended)), ...rest];
      const file = Buffer.concat([bytes.subarray(0, 8), ...frames]);
      await refused(path, file, key, new RegExp(`${key} must be a bin`));
    }
  }));

function bytes32(...values: number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer);
}

test.run();
