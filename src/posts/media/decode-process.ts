import { hash } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import sharp, { type Metadata } from 'sharp';
import type { Decoded, DecodeJob } from './decoder.js';
import type { Ending } from './folder.js';

// entry of the process that decodes an image: what an image does to its decoder kills no answer

/** What the original says of a file that is no image. */
const NO_IMAGE =
  'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
const QUALITY = 90;
/** A PNG cannot be decoded at a smaller size: every pixel takes its time. */
const MAX_PNG_PIXELS = 40_000_000;
/** A larger JPEG is decoded at half its width and height. */
const MAX_WHOLE_PIXELS = 32_000_000;

/** First bytes of the formats that are taken. */
const FORMATS: readonly [ending: Ending, mark: Buffer][] = [
  ['jpg', Buffer.from([0xff, 0xd8, 0xff])],
  ['png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
];

// tests of many images spare themselves the process
if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

async function main(): Promise<void> {
  // says that the process has begun; white space means nothing in JSON
  process.stdout.write('\n');
  endWithParent();
  // where memory is short, the system ends this process first
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // there is no such file, or it may not be written
  }
  stepBack();
  sharp.cache(false);
  sharp.concurrency(1);
  // each further format that the library reads may have a fault
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] });
  const [input, output, maxPixels] = process.argv.slice(2) as [string, string, string];
  const job = { input, output, maxPixels: Number(maxPixels) };
  const decoded = await decode(job).catch((error: NodeJS.ErrnoException): Decoded => {
    return { kind: 'failed', code: error.code ?? error.message };
  });
  process.stdout.write(JSON.stringify(decoded));
}

/**
 * Ends this process when the one that started it is gone, and nobody waits for the image: by a
 * signal, since an ordinary end waits for the pixels, and writes the image.
 */
function endWithParent(): void {
  process.stdin.once('end', () => process.kill(process.pid, 'SIGKILL')).resume();
  // a pipe's, as the parent made it
  (process.stdin as Socket).unref();
}

/** Lowers the priority of all threads: Linux does so one by one, and new ones inherit it. */
function stepBack(): void {
  const folder = '/proc/self/task';
  for (const thread of existsSync(folder) ? readdirSync(folder) : ['0']) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // the thread has ended, or may not be lowered: images are decoded all the same
    }
  }
}

/** Decodes every pixel of an image and writes a new one: upright, in sRGB, without metadata. */
export async function decode({ input, output, maxPixels }: DecodeJob): Promise<Decoded> {
  const bytes = await readFile(input);
  if (bytes.length === 0) return { kind: 'refused', text: 'The submitted file is empty.' };
  const [ending] = FORMATS.find(([, mark]) => mark.equals(bytes.subarray(0, mark.length))) ?? [];
  if (ending === undefined) return { kind: 'refused', text: NO_IMAGE };
  let made: Buffer;
  try {
    const metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
    const { width, height } = metadata;
    const most = ending === 'png' ? Math.min(maxPixels, MAX_PNG_PIXELS) : maxPixels;
    if (width * height > most) {
      const text = `The image has ${width} × ${height} pixels. Expected at most ${most} altogether.`;
      return { kind: 'refused', text };
    }
    made = await remake(bytes, metadata, maxPixels, ending);
  } catch {
    return { kind: 'refused', text: NO_IMAGE };
  }
  await writeFile(output, made, { flag: 'wx', flush: true });
  const sha256 = hash('sha256', made);
  return { kind: 'image', ending, bytes: made.length, sha256 };
}

function remake(
  bytes: Buffer,
  { width, height, autoOrient, chromaSubsampling }: Metadata,
  maxPixels: number,
  ending: Ending,
): Promise<Buffer> {
  // files that are cut or damaged are refused; odd but readable ones of old cameras are taken
  const limits = { failOn: 'error', limitInputPixels: maxPixels, sequentialRead: true } as const;
  const upright = sharp(bytes, limits).autoOrient().toColourspace('srgb');
  if (ending === 'png') return upright.png().toBuffer();
  if (width * height > MAX_WHOLE_PIXELS) upright.resize(Math.ceil(autoOrient.width / 2));
  const isSharp = chromaSubsampling === '4:4:4';
  return upright
    .jpeg({ quality: QUALITY, chromaSubsampling: isSharp ? '4:4:4' : '4:2:0' })
    .toBuffer();
}
