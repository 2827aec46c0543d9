import { readdirSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { crc32, deflateSync } from 'node:zlib';
import { type Logger, pino } from 'pino';
import sharp from 'sharp';
import { decode } from '../../src/posts/media/decode-process.js';
import type { Decoder } from '../../src/posts/media/decoder.js';
import { incomingOf, openImageFolder } from '../../src/posts/media/folder.js';
import { type CheckedImage, Media } from '../../src/posts/media/media.js';
import { createUploads, ImageStats, type Upload } from '../../src/posts/media/upload.js';
import type { Asked } from './client.js';
import { makeFolder } from './folder.js';

/** A picture, wider than high, with quarters of red and lime above blue and white. */
const PICTURE = sharp(Buffer.from('ff000000ff000000ffffffff', 'hex'), {
  raw: { width: 2, height: 2, channels: 3 },
}).resize(64, 32, { fit: 'fill', kernel: 'nearest' });

/** The picture as a JPEG without metadata. */
export const JPEG: Buffer = await PICTURE.clone().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();
export const PNG: Buffer = await PICTURE.clone().png().toBuffer();

/** Text in the metadata of uploads, which no accepted image may hold. */
export const SECRET = 'HOME-OF-SOMEBODY';

/**
 * A JPEG like a phone's: an Exif segment with an orientation, a position and a text, a comment, an
 * XMP packet, and a preview after its end.
 */
export function phoneJpeg(orientation: number): Buffer {
  const exif = exifOf(orientation);
  const segments = [
    segment(0xe1, exif),
    segment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>${SECRET}</x:xmpmeta>`)),
    segment(0xed, Buffer.from(`Photoshop 3.0\0${SECRET}`)),
    segment(0xfe, Buffer.from(`comment ${SECRET}`)),
  ];
  return Buffer.concat([JPEG.subarray(0, 2), ...segments, JPEG.subarray(2), Buffer.from(SECRET)]);
}

/** A PNG with texts, times, an orientation and bytes after its end. */
export function phonePng(orientation: number): Buffer {
  const afterHeader = 8 + 25;
  const chunks = [
    chunk('tEXt', Buffer.from(`Location\0${SECRET}`)),
    chunk('zTXt', Buffer.concat([Buffer.from('Author\0\0'), deflateSync(Buffer.from(SECRET))])),
    chunk('iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0<x>${SECRET}</x>`)),
    chunk('eXIf', exifOf(orientation).subarray(6)),
  ];
  const [head, rest] = [PNG.subarray(0, afterHeader), PNG.subarray(afterHeader)];
  return Buffer.concat([head, ...chunks, rest, Buffer.from(SECRET)]);
}

/** A PNG whose header claims a size that its few pixels do not have. */
export function claimingPng(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const signature = PNG.subarray(0, 8);
  const parts = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

export function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const whole = Buffer.alloc(8 + named.length);
  whole.writeUInt32BE(data.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), 4 + named.length);
  return whole;
}

/** Markers of a JPEG's segments before its pixels. */
export function segmentsOf(jpeg: Buffer): number[] {
  const kinds: number[] = [];
  for (let at = 2; jpeg[at + 1] !== 0xda; at += 2 + jpeg.readUInt16BE(at + 2)) {
    kinds.push(jpeg[at + 1]!);
  }
  return kinds;
}

export function chunksOf(png: Buffer): string[] {
  const names: string[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    names.push(png.toString('latin1', at + 4, at + 8));
  }
  return names;
}

/** The names of the colours in the middles of the quarters. */
export async function coloursOf(image: Buffer): Promise<string[]> {
  const small = sharp(image).removeAlpha().resize(2, 2, { fit: 'fill', kernel: 'nearest' });
  const values = [...(await small.raw().toBuffer())].map((value) => (value > 127 ? 'f' : '0'));
  return [0, 3, 6, 9].map((at) => {
    const key = values.slice(at, at + 3).join('');
    return { f00: 'red', '0f0': 'lime', '00f': 'blue', fff: 'white' }[key] ?? key;
  });
}

function segment(kind: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, kind, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** An Exif block of a text, an orientation and a position, whose own block is empty. */
function exifOf(orientation: number): Buffer {
  const text = Buffer.from(`${SECRET}\0`);
  const length = text.length.toString(16).padStart(8, '0');
  const end = '00000032';
  // tag, type, count, and the value or where it begins
  const entries = [
    ...[`010e 0002 ${length} ${end}`, `0112 0003 00000001 000${orientation}0000`],
    `8825 0004 00000001 ${end}`,
  ];
  const tiff = `4d4d002a 00000008 0003 ${entries.join('')} 00000000`.replaceAll(' ', '');
  return Buffer.concat([Buffer.from('Exif\0\0'), Buffer.from(tiff, 'hex'), text]);
}

export const FORM = 'multipart/form-data; boundary=XX';

/** A part of a form; of a file where `file` is its name. */
export function part(name: string, value: string | Buffer, file?: string, type?: string): Buffer {
  const fileName = file === undefined ? '' : `; filename="${file}"`;
  const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  const head = `--XX\r\nContent-Disposition: form-data; name="${name}"${fileName}\r\n${typeLine}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]);
}

export function formOf(parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from('--XX--\r\n')]);
}

/** The post of a point with an image. */
export function imagePost(
  fields: Readonly<Record<string, string>>,
  image: Buffer,
  name = 'a.jpg',
  type?: string,
  headers: OutgoingHttpHeaders = {},
): Asked {
  const texts = Object.entries(fields).map(([field, value]) => part(field, value));
  const body = formOf([...texts, part('image', image, name, type)]);
  return { method: 'POST', body, headers: { 'Content-Type': FORM, ...headers } };
}

/** A folder of images. */
interface MediaFolder {
  readonly folder: string;
  readonly media: Media;
  readonly logger: Logger;
  upload(bytes: Buffer, name?: string): Promise<Upload>;
  /** Makes an image of an upload and removes the upload, as the handler of posts does. */
  accept(bytes: Buffer, name?: string): Promise<CheckedImage | string>;
  /** Relative paths of every file and empty folder. */
  files(): string[];
  /** Opens the folder again, as another process would. */
  reopen(): Media;
}

export const MAX_PIXELS = 1_000_000;

/** Decodes in this process: a decoder process takes a tenth of a second an image. */
const DECODER: Decoder = { decode: decode as Decoder['decode'] };

export function makeMediaFolder(): MediaFolder {
  const folder = makeFolder();
  const incoming = incomingOf(folder, undefined);
  const logger: Logger = pino({ level: 'silent' });
  const stats = new ImageStats();
  const given = { store: openImageFolder(folder), incoming, maxPixels: MAX_PIXELS };
  const open = (): Media => new Media({ ...given, logger, stats, decoder: DECODER });
  const media = open();
  const uploads = createUploads(incoming, 10_000_000, logger);
  const upload = (bytes: Buffer, name = 'photo.jpg'): Promise<Upload> =>
    uploads.receive(Readable.from([bytes]), name, 'a');
  return {
    folder,
    media,
    logger,
    upload,
    async accept(bytes, name) {
      const received = await upload(bytes, name);
      try {
        return await media.accept(received, 'a');
      } finally {
        await uploads.discard(received);
      }
    },
    files: () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path, _, all) => !all.some((other) => other.startsWith(`${path}/`)))
        .sort(),
    reopen: open,
  };
}
