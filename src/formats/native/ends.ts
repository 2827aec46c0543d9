import { createHash } from 'node:crypto';
import { InputError } from '../../model/quote.js';
import { MAGIC } from '../snapshot.js';
import { decodeMap, type Header, readFooter, readHeader } from './decode.js';
import {
  FOOTER_FRAME_BYTES,
  type FooterObject,
  LEAST_POINT_BYTES,
  MAX_HEADER_BYTES,
} from './format.js';
import { type Frame, FrameFile, type FramePlace, failAt, frameBytes } from './frame-file.js';

/** What a file says at its two ends, which agree with each other. */
export interface Ends {
  readonly header: Header;
  readonly footer: FooterObject;
  readonly headerPlace: FramePlace;
  readonly footerPlace: FramePlace;
  readonly digest: string;
}

/** A file cut short or of another version is refused before it is read. Throws an InputError. */
export function readEnds(file: FrameFile): Ends {
  if (!beginsNative(file)) {
    throw new InputError(`${file.path}: no native snapshot: it does not begin with "waypost"`);
  }
  const headerPlace = file.place(MAGIC.length, file.size, MAX_HEADER_BYTES);
  const failHeader = failAt(file, headerPlace);
  const headerFrame = file.frame(headerPlace);
  const header = readHeader(decodeMap(headerFrame.object, failHeader), failHeader);
  const hash = createHash('sha256').update(headerFrame.bytes);

  const footerFrame = findFooter(file, MAGIC.length + frameBytes(headerPlace));
  const failFooter = failAt(file, footerFrame);
  const footer = readFooter(decodeMap(footerFrame.object, failFooter), failFooter);
  if (footer.points !== header.count) {
    throw failFooter(
      `the header promises ${header.count} points, the footer counts ${footer.points}`,
    );
  }
  // whoever reads the columns takes memory for all of them first
  if (header.count * LEAST_POINT_BYTES > file.size) {
    throw failHeader(`${header.count} points cannot be in a file of ${file.size} bytes`);
  }
  const { position, length, crc } = footerFrame;
  const digest = hash.update(footerFrame.bytes).digest('hex');
  return { header, footer, headerPlace, footerPlace: { position, length, crc }, digest };
}

/** Whether a file begins as native ones do; one that cannot be read does not. */
export function isNative(path: string): boolean {
  try {
    const file = FrameFile.open(path);
    try {
      return beginsNative(file);
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

function beginsNative(file: FrameFile): boolean {
  return file.size >= MAGIC.length && file.read(0, MAGIC.length).equals(MAGIC);
}

function findFooter(file: FrameFile, from: number): Frame {
  try {
    const place = file.place(
      Math.max(from, file.size - FOOTER_FRAME_BYTES),
      file.size,
      FOOTER_FRAME_BYTES,
    );
    if (place.position + frameBytes(place) === file.size) return file.frame(place);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
  }
  throw new InputError(
    `${file.path}: does not end with a footer: it is incomplete, or something was added to it; copy or pack it again`,
  );
}
