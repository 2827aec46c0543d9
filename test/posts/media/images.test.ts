import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { safeName } from '../../../src/posts/media/folder.js';
import type { CheckedImage } from '../../../src/posts/media/media.js';
import {
  chunk,
  chunksOf,
  claimingPng,
  coloursOf,
  JPEG,
  MAX_PIXELS,
  makeMediaFolder,
  PNG,
  phoneJpeg,
  phonePng,
  SECRET,
  segmentsOf,
} from '../../support/images.js';
import { assert, test } from '../../support/uvu.js';

const { media, accept, folder, files } = makeMediaFolder();

const NO_IMAGE =
  'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';

/** Asserts that an image is taken and leaves no file behind; returns its bytes. */
async function taken(bytes: Buffer): Promise<Buffer> {
  const image = await accept(bytes);
  assert.type(image, 'object', String(image));
  const { file } = image as CheckedImage;
  assert.equal(files(), [`.incoming/${file}`, 'map_data_points']);
  const made = readFileSync(join(folder, '.incoming', file));
  await media.discard(image as CheckedImage);
  return made;
}

/** Asserts that an image is refused and leaves no file behind; returns the text. */
async function refused(bytes: Buffer): Promise<string> {
  const text = await accept(bytes);
  assert.type(text, 'string', JSON.stringify(text));
  assert.equal(files(), ['.incoming', 'map_data_points']);
  return text as string;
}

function redPng(side: number): Promise<Buffer> {
  const create = { width: side, height: side, channels: 3, background: 'red' } as const;
  return sharp({ create }).png().toBuffer();
}

/** What the quarters of the picture show once it is turned upright. */
const UPRIGHT: Readonly<Record<number, readonly string[]>> = {
  1: ['red', 'lime', 'blue', 'white'],
  2: ['lime', 'red', 'white', 'blue'],
  3: ['white', 'blue', 'lime', 'red'],
  4: ['blue', 'white', 'red', 'lime'],
  5: ['red', 'blue', 'lime', 'white'],
  6: ['blue', 'red', 'white', 'lime'],
  7: ['white', 'lime', 'blue', 'red'],
  8: ['lime', 'white', 'red', 'blue'],
};

test('a JPEG is turned upright and loses everything but its pixels', async () => {
  for (const [orientation, colours] of Object.entries(UPRIGHT)) {
    const sent = phoneJpeg(Number(orientation));
    assert.ok(sent.includes(SECRET));
    const made = await taken(sent);
    assert.equal(await coloursOf(made), colours, orientation);
    assert.not(made.includes(SECRET));
    // tables and the frame: no Exif, XMP, profile or comment
    const kinds = new Set(segmentsOf(made));
    for (const kind of kinds) assert.ok([0xdb, 0xc0, 0xc2, 0xc4, 0xdd].includes(kind), `${kind}`);
    assert.is(made.readUInt16BE(made.length - 2), 0xffd9);
  }
});

test('a PNG is turned upright and loses everything but its pixels', async () => {
  for (const orientation of [1, 6]) {
    const made = await taken(phonePng(orientation));
    assert.equal(await coloursOf(made), UPRIGHT[orientation]);
    assert.not(made.includes(SECRET));
    const names = new Set(chunksOf(made));
    for (const name of names) assert.ok(['IHDR', 'pHYs', 'IDAT', 'IEND'].includes(name), name);
  }
});

test('odd but whole images are taken', async () => {
  const picture = sharp(JPEG);
  const images = {
    progressive: await picture.clone().jpeg({ progressive: true }).toBuffer(),
    grey: await picture.clone().greyscale().jpeg().toBuffer(),
    cmyk: await picture.clone().toColourspace('cmyk').jpeg().toBuffer(),
    wide: await picture.clone().withIccProfile('p3').jpeg().toBuffer(),
    transparent: await picture.clone().ensureAlpha(0.5).png().toBuffer(),
    deep: await picture.clone().toColourspace('rgb16').png().toBuffer(),
    interlaced: await picture.clone().png({ progressive: true }).toBuffer(),
    palette: await picture.clone().png({ palette: true }).toBuffer(),
    tiny: await redPng(1),
  };
  for (const [kind, bytes] of Object.entries(images)) {
    const { space, hasProfile, depth } = await sharp(await taken(bytes)).metadata();
    assert.ok(['srgb', 'b-w'].includes(space!), `${kind}: ${space}`);
    assert.is(depth, 'uchar', kind);
    assert.is(hasProfile, false, kind);
  }
});

test('what is no JPEG or PNG is refused, whatever it calls itself', async () => {
  const picture = sharp(JPEG);
  const files: readonly Buffer[] = [
    Buffer.from('notajpeg'),
    Buffer.from('<html><script>alert(1)</script>'),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    Buffer.from('GIF89a/*<svg/onload=alert(1)>*/=1;'),
    Buffer.from('%PDF-1.7 %%EOF'),
    Buffer.from('PK\x03\x04'),
    await picture.clone().gif().toBuffer(),
    await picture.clone().webp().toBuffer(),
    await picture.clone().tiff().toBuffer(),
    // a mark alone
    JPEG.subarray(0, 3),
    PNG.subarray(0, 8),
    Buffer.concat([JPEG.subarray(0, 3), Buffer.from('<?php system($_GET[0]); ?>')]),
    // another image behind the mark of one
    Buffer.concat([PNG.subarray(0, 8), JPEG]),
  ];
  for (const bytes of files)
    assert.is(await refused(bytes), NO_IMAGE, bytes.toString('latin1', 0, 20));
  assert.is(await refused(Buffer.alloc(0)), 'The submitted file is empty.');
});

test('an image that is cut short or damaged is refused', async () => {
  for (const whole of [JPEG, PNG]) {
    // behind the last pixel there is only the mark of the end
    for (let part = 1; part <= 8; part++) {
      const cut = whole.subarray(0, Math.floor((whole.length * part) / 10));
      assert.is(await refused(cut), NO_IMAGE, `${cut.length} of ${whole.length}`);
    }
  }
  const torn = Buffer.from(PNG);
  const at = torn.indexOf('IDAT') + 20;
  torn[at] = torn[at]! ^ 0xff;
  assert.is(await refused(torn), NO_IMAGE);
});

test('an image with more pixels than are allowed is refused by its header', async () => {
  for (const [width, height] of [
    [1001, 1000],
    [50_000, 50_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ] as const) {
    const bomb = claimingPng(width, height, deflateSync(Buffer.alloc(100_000)));
    const text = await refused(bomb);
    const expected = `The image has ${width} × ${height} pixels. Expected at most ${MAX_PIXELS} altogether.`;
    // no decoder takes the last one for an image at all
    assert.is(text, width < 2 ** 31 - 1 ? expected : NO_IMAGE);
  }
  await taken(await redPng(1000));
  // fewer pixels than it says
  assert.is(await refused(claimingPng(1000, 1000, deflateSync(Buffer.alloc(1000)))), NO_IMAGE);
});

test('an image whose texts or profile inflate to 200 MB is refused, or taken without them', async () => {
  const swollen = deflateSync(Buffer.alloc(200_000_000));
  const head = PNG.subarray(0, 33);
  for (const [type, before] of Object.entries({ zTXt: 'Comment\0\0', iCCP: 'profile\0\0' })) {
    const bomb = chunk(type, Buffer.concat([Buffer.from(before), swollen]));
    const image = await accept(Buffer.concat([head, bomb, PNG.subarray(33)]));
    if (typeof image === 'string') continue;
    const made = readFileSync(join(folder, '.incoming', image.file));
    assert.ok(made.length < 2 * PNG.length);
    await media.discard(image);
  }
});

const DIGEST = 'ab12cd34ef567890';

test('a name keeps what is harmless and gets the ending of what the image is', () => {
  /** The names that clients give, by the name that becomes of them. */
  const names: Readonly<Record<string, readonly string[]>> = {
    image: ['日本.jpg', '', '.jpg', '..', 'con.jpg/', 'ﷺ'.repeat(1000)],
    ...{ photo: ['photo.jpg'], 'IMG_2041-2': ['IMG_2041-2.HEIC'], two_dots: ['two.dots.png'] },
    ...{ Nakyma_maelta: ['Näkymä mäeltä.jpeg'], no_ending: ['no ending'] },
    ...{ passwd: ['../../etc/passwd'], secret: ['C:\\Users\\me\\secret.png'] },
    ...{ a_b_c: ['a\0b\r\nc.jpg'], script: ['"><script>.jpg'], gpj: ['\u202egpj.exe'] },
    ['x'.repeat(40)]: [`${'x'.repeat(300)}.jpg`],
  };
  for (const [name, all] of Object.entries(names)) {
    for (const suggested of all) {
      assert.is(safeName(suggested, DIGEST, 'jpg'), `${name}_ab12cd34.jpg`, suggested);
    }
  }
  assert.is(safeName('x.jpg', DIGEST, 'png'), 'x_ab12cd34.png');
  // the longest name fits the field with the longest id
  const longest = safeName('x'.repeat(300), DIGEST, 'jpg');
  assert.ok(`map_data_points/${Number.MAX_SAFE_INTEGER}/${longest}`.length <= 100);
});

test.run();
