import { crc32 } from 'node:zlib';
import { Packr, pack, Unpackr } from 'msgpackr';

/** An object of a native file, decoded; records are their bytes alone. */
export type Piece = Record<string, unknown> | Buffer | string;

const unpackr = new Unpackr({ useRecords: false });
const packr = new Packr({ useRecords: false, variableMapSize: true });
const FIXED_WIDTH = new Set(['count', 'blocks', 'points', 'notifications', 'crc']);

/** The frames of a native file as they are, after its magic. */
export function framesOf(file: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const end = at + 10 + file.readUInt32BE(at + 1);
    frames.push(file.subarray(at, end));
    at = end;
  }
  return frames;
}

/** The same, decoded, so that a test can change what they say. */
export function takeApart(file: Buffer): Piece[] {
  return framesOf(file).map((frame) => {
    const value: unknown = unpackr.unpack(Buffer.from(frame.subarray(5, -5)));
    return value as Piece;
  });
}

/**
 * A native file of these pieces, with every checksum right whatever they say: `records_crc` and the
 * footer's `crc` are computed where they are undefined.
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

/** One frame around an object's bytes. */
export function frame(object: Uint8Array): Buffer {
  return Buffer.concat([uint32(object.length), object, uint32(crc32(object))]);
}

/** A number at a fixed width of five bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(5, 0xce);
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

function encode(map: Record<string, unknown>): Buffer {
  const fixed = map['type'] === 'header' || map['type'] === 'footer';
  const { length } = Object.keys(map);
  const head = length > 15 ? [0xde, 0, length] : [0x80 + length];
  const parts: Uint8Array[] = [Uint8Array.from(head)];
  for (const [key, value] of Object.entries(map)) {
    parts.push(packr.pack(key));
    parts.push(
      fixed && FIXED_WIDTH.has(key) && typeof value === 'number'
        ? uint32(value)
        : packr.pack(value),
    );
  }
  return Buffer.concat(parts);
}
