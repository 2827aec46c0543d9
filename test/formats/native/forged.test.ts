import { writeFileSync } from 'node:fs';
import { frame, framesOf, type Piece, putTogether, takeApart } from '../../support/forge.js';
import {
  notification,
  readInPlace,
  readOnePass,
  refused,
  withSample,
} from '../../support/native.js';
import { assert, test } from '../../support/uvu.js';

/** The sample's pieces, whose checksums will be computed from what they say then. */
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

/** Index of each piece of the sample. */
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

/** To make text of it calls what is no function. */
const UNSHOWABLE = { toString: 5, valueOf: 5 };

const WRONG: Record<string, [Edit, RegExp]> = {
  'a later version': [set(HEADER, { version: 3 }), /version 3,.* version 2/],
  'version 0': [set(HEADER, { version: 0 }), /version 0,.* version 2/],
  'version as text': [set(HEADER, { version: '1' }), /version must be a whole number/],
  'a version that is a map': [set(HEADER, { version: UNSHOWABLE }), /got \{"toString":5/],
  'a count that is a map': [
    set(COLUMNS, { count: UNSHOWABLE }),
    /count must be .* got \{"toString"/,
  ],
  'a block number that is a map': [set(COLUMNS, { index: UNSHOWABLE }), /got block \{"toString"/],
  'a frame whose type is a map': [set(NOTES, { type: UNSHOWABLE }), /type \{"toString":5,/],
  'a frame whose type is long': [set(NOTES, { type: 'x'.repeat(1e6) }), /type x{60}… has no/],
  'another type of header': [set(HEADER, { type: 'columns' }), /expected the header/],
  'no origin': [set(HEADER, { origin: null }), /origin must be text/],
  'a watermark as text': [set(HEADER, { journal_through: '7' }), /journal_through must be a whole/],
  'a negative watermark': [set(HEADER, { journal_through: -1 }), /journal_through must be a whole/],
  'no time': [set(HEADER, { created_at: 0 }), /created_at must be text/],
  'a time without an offset': [set(HEADER, { created_at: '2023-05-01T12:00:00' }), /offset/],
  'another count': [set(HEADER, { count: 4 }), /promises 4 points, the footer counts 3/],
  'a wrong count on both ends': [bothEnds(4), /footer says points 4, the frames before it have 3/],
  'more points on both ends than the file has room for': [
    bothEnds(2 ** 32 - 1),
    /4294967295 points cannot be in a file of \d+ bytes/,
  ],
  'wrong blocks in the footer': [set(FOOTER, { blocks: 3 }), /footer says blocks 3/],
  'wrong notifications in the footer': [set(FOOTER, { notifications: 9 }), /notifications 9/],
  'a wrong CRC in the footer': [set(FOOTER, { crc: 1 }), /footer says crc 1/],
  'a footer of another type': [set(FOOTER, { type: 'header' }), /expected the footer/],
  'an unknown frame': [set(NOTES, { type: 'photographs000' }), /photographs000/],
  'a block number left out': [set(COLUMNS_2, { index: 2 }), /expected block 1, got block 2/],
  'a block of no points': [set(COLUMNS, { count: 0 }), /1 to 65536 points, got 0/],
  'a block of too many points': [set(COLUMNS, { count: 65_537 }), /1 to 65536 points/],
  'a count that the columns do not have': [set(COLUMNS, { count: 3 }), /must be a bin of/],
  'a huge count': [set(COLUMNS, { count: 2 ** 31 }), /1 to 65536 points/],
  'a negative count': [set(COLUMNS, { count: -1 }), /count must be a whole number/],
  'a column as list': [set(COLUMNS, { lat: [1, 2] }), /lat must be a bin/],
  'no column': [set(COLUMNS, { lon: undefined }), /lon must be a bin/],
  'id 0': [column('id', 0), /point 1 of the block: id/],
  'half an id': [column('id', 1.5), /id must be/],
  'an id above 2^53': [column('id', 2 ** 53), /id must be/],
  'an id that is no number': [column('id', Number.NaN), /id must be/],
  'lat beyond the pole': [column('lat', 90.000001), /lat must lie within ±90, got 90.000001/],
  'lat that is no number': [column('lat', Number.NaN), /lat must/],
  'endless lon': [column('lon', Number.NEGATIVE_INFINITY), /lon must lie within ±180/],
  'lon beyond 180': [column('lon', -180.5), /lon must/],
  'half a microsecond': [column('created_at', 0.5), /whole microseconds/],
  'no time of change': [column('modified_at', Number.NaN), /whole microseconds/],
  'an empty record': [set(COLUMNS, { length: bytes32(0, 9) }), /length must be 2 to 262142/],
  'a record too long': [set(COLUMNS, { length: bytes32(262_144, 9) }), /got 262144/],
  'statuses that are no list': [set(COLUMNS, { statuses: 'NEW' }), /statuses must be a list of/],
  'a status that is no text': [set(COLUMNS, { statuses: [7] }), /statuses must be a list of texts/],
  'no tag texts': [set(COLUMNS, { tag_texts: undefined }), /tag_texts must be a list of texts/],
  'a status without a text': [
    set(COLUMNS, { status: bytes32(0, 1) }),
    /point 1 of the block: status must be below 1, got 1/,
  ],
  'too few statuses': [set(COLUMNS, { status: bytes32(0) }), /status must be a bin of 8 bytes/],
  'no flags': [set(COLUMNS, { flags: null }), /flags must be a bin/],
  'unknown flags': [set(COLUMNS, { flags: Buffer.of(0, 4) }), /flags must be 0 to 3, got 4/],
  'half a user': [column('created_by', 0.5), /created_by must be -1 or a whole number, got 0.5/],
  'user -2': [column('created_by', -2), /created_by must be -1 or/],
  'a user that is no number': [column('created_by', Number.NaN), /created_by must be/],
  'more tags than are counted': [set(COLUMNS, { tags: bytes32(0, 0) }), /adds up to 1, and tags/],
  'tags that are cut': [set(COLUMNS, { tags: Buffer.alloc(5) }), /tags must be a bin of a multip/],
  'a tag without a text': [set(COLUMNS, { tags: bytes32(1) }), /tags must be below 1, got 1/],
  'huge counts of tags': [
    set(COLUMNS, { tag_counts: bytes32(2 ** 32 - 1, 2 ** 32 - 1) }),
    /tag_counts adds up to 8589934590/,
  ],
  'lengths that do not add up': [set(COLUMNS, { length: bytes32(9, 9) }), /adds up to 18/],
  'records_size that is huge': [set(COLUMNS, { records_size: 2 ** 32 - 1 }), /at most 33554432/],
  'records of another block': [
    (pieces) => {
      const [one, two] = [pieces[RECORDS]!, pieces[RECORDS_2]!];
      set(COLUMNS, { records_crc: 5 })(pieces);
      [pieces[RECORDS], pieces[RECORDS_2]] = [two, one];
    },
    /do not belong/,
  ],
  'records that are text': [
    (pieces) => pieces.splice(RECORDS, 1, String(pieces[RECORDS])),
    /one bin object/,
  ],
  'records that are no objects': [
    (pieces) => (pieces[RECORDS] as Buffer).write('['),
    /record 0 of the block is no JSON object/,
  ],
  'lengths that cut records elsewhere': [
    (pieces) =>
      set(COLUMNS, { length: bytes32(9, (pieces[RECORDS]!.length as number) - 9) })(pieces),
    /record 0 of the block is no JSON object/,
  ],
  'columns after notifications': [
    (pieces) => pieces.splice(FOOTER, 0, ...pieces.slice(COLUMNS, COLUMNS + 2)),
    /type columns has no place here/,
  ],
  'items that are no list': [set(NOTES, { items: {} }), /items must be a list/],
  'a notification that is text': [
    set(NOTES, { items: ['hello'] }),
    /notification 0.*must be a map/,
  ],
  'a notification without id': [note({ id: undefined }), /id must be a whole number/],
  'a notification of a negative user': [note({ user: -7 }), /user must be a whole number/],
  'a notification neither seen nor not': [note({ seen: 1 }), /seen must be/],
  'a notification without comment': [note({ comment: null }), /comment must be a map/],
  'a comment that is a number': [noteComment({ comment: 5 }), /comment.comment must be text/],
  'a comment with a NUL': [
    noteComment({ comment: 'a\0b' }),
    /comment.comment must not contain a NUL/,
  ],
  'notification 0': [note({ id: 0 }), /id must be a whole number from 1/],
  'a comment without a time': [noteComment({ created_at: 'today' }), /comment.created_at/],
  'a comment on half a point': [noteComment({ map_data_point: 0.5 }), /map_data_point must be/],
};

test('what is wrong is refused though every checksum is right', () =>
  withSample(async (bytes, path) => {
    for (const [name, [edit, why]] of Object.entries(WRONG)) {
      const pieces = unsealed(bytes);
      edit(pieces);
      await refused(path, putTogether(pieces), name, why);
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
