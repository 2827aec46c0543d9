import { MAX_BLOCK_POINTS } from '../block.js';
import { LEAST_RECORD_BYTES } from '../record-layout.js';

// docs/snapshot-format.md, as names that the writer and the reader share
export const FORMAT_VERSION = 3;

/** The first byte of a uint32 in MessagePack; its four bytes follow, big-endian. */
export const UINT32_MARK = 0xce;
export const UINT32_BYTES = 5;

/** The first bytes of the longest forms of MessagePack's `bin` and array. */
export const BIN32_MARK = 0xc6;
export const ARRAY32_MARK = 0xdd;

/** A frame is the length of its object, the object, and the object's CRC-32. */
export const FRAME_OVERHEAD: number = UINT32_BYTES * 2;

/** All numbers of the footer are uint32, so that its frame is found from the file's end. */
const FOOTER_BYTES = 65;
export const FOOTER_FRAME_BYTES: number = FOOTER_BYTES + FRAME_OVERHEAD;

/** A point in every column, and the shortest record. */
export const LEAST_POINT_BYTES: number = 5 * 8 + 4 + LEAST_RECORD_BYTES;

// the most bytes of a frame's object, which a reader must hold
export const MAX_HEADER_BYTES = 4096;
export const MAX_RECORDS_SIZE: number = 32 * 1024 * 1024;
export const MAX_RECORDS_BYTES: number = MAX_RECORDS_SIZE + 5;
/** A tag takes 4 bytes of a record at least, and 4 as a number; a text has 5 bytes before it. */
export const MAX_COLUMNS_BYTES: number = MAX_BLOCK_POINTS * 61 + 3 * MAX_RECORDS_SIZE + 2048;
export const MAX_NOTIFICATIONS_BYTES: number = 16 * 1024 * 1024;
export const MAX_FRAME_NOTIFICATIONS = 65_536;

export interface Footer {
  readonly blocks: number;
  readonly points: number;
  readonly notifications: number;
  /** CRC-32 over the CRC-32s, four bytes each, little-endian, of all frames before. */
  readonly crc: number;
}
