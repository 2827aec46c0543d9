import { deflateSync } from 'node:zlib';
import { Random } from '../../src/cli/generate/random.js';
import {
  chunk,
  claimingPng,
  FORM,
  formOf,
  JPEG,
  PNG,
  part,
  phoneJpeg,
  phonePng,
} from './images.js';

export interface HostilePost {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const PLACE = { lat: '10.5', lon: '-20.25' };

const SCALARS: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1e308, -1e-308, 91, 181, 1e21, 2 ** 53, '', ' ', 'NaN', 'Infinity'],
  ...['1e400', '0x10', '1_0', '١٢', '90.000000001', '-90', '1'.repeat(400), 'x'.repeat(70_000)],
  ...['\0', '\ud800', '\ufeff', '\u202e\u2028', '../../etc/passwd', '{{7*7}}', '<script>'],
  "' OR 1=1 --",
];

const NAMES = [
  ...['lat', 'lon', 'comment', 'tags', 'image', 'id', 'status', 'is_processed', 'created_by'],
  ...['created_at', '__proto__', 'constructor', 'toString', 'length', '', 'lat\0', 'LAT'],
];

const FILE_NAMES = [
  ...['photo.jpg', 'photo.png', '../../../../etc/passwd', '..\\..\\boot.ini', '/etc/shadow'],
  ...['.', '..'],
  ...['a/b/c.jpg', 'x.jpg%00.php', 'x.php.jpg', 'con', 'x'.repeat(5_000), '.htaccess', '*?<>|.jpg'],
  ...['map_data_points/1/x.jpg', '%2e%2e%2f%2e%2e%2fx.jpg', 'näkymä.jpg', '\u202egpj.exe', ''],
];

const TYPES = [
  ...['application/json', 'application/json; charset=utf-16', 'application/JSON;charset="utf-8"'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data', 'multipart/form-data; boundary='],
  ...['multipart/form-data; boundary=XX', 'text/plain', 'application/xml', '', '/', 'a/b;c=d'],
  `multipart/form-data; boundary=${'b'.repeat(500)}`,
];

const ZEROS = deflateSync(Buffer.alloc(1_000_000));
const IMAGES: readonly Buffer[] = [JPEG, PNG, phoneJpeg(6), phonePng(3)];
const SWOLLEN: readonly Buffer[] = [
  claimingPng(60_000, 60_000, ZEROS),
  claimingPng(2 ** 31 - 1, 2 ** 31 - 1, ZEROS),
  claimingPng(1, 1, ZEROS),
  claimingPng(0, 0, ZEROS),
  Buffer.concat([
    PNG.subarray(0, 33),
    chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(30_000_000))])),
    PNG.subarray(33),
  ]),
];
const FOREIGN = [
  ...['GIF89a', '<svg/>', '<html>', '%PDF-1.4', 'PK\x03\x04', 'RIFF\0\0\0\0WEBP', '#!/bin/sh'],
];

/** Seeded hostile posts of every known kind. */
export function createHostilePosts(seed: number): () => HostilePost {
  const random = new Random(seed, 'point');
  const kinds: readonly (() => HostilePost)[] = [
    () => json(JSON.stringify(fieldsOf(random))),
    () =>
      json(mutated(random, Buffer.from(JSON.stringify({ ...PLACE, tags: ['a'], comment: 'x' })))),
    () => json(nested(random)),
    () => json(bytes(random, random.int(200))),
    () => ({ ...form(random), headers: { 'Content-Type': TYPES[3]! } }),
    () => multipart([...fieldParts(random), imagePart(random)]),
    () => multipart([...fieldParts(random), imagePart(random)]),
    () => brokenMultipart(random),
    () => ({
      headers: { 'Content-Type': random.pick(TYPES) },
      body: bytes(random, random.int(500)),
    }),
    () => multipart([part('lat', '10.5'), part('lon', '-20.25'), imagePart(random)]),
  ];
  return () => {
    const { headers, body } = random.pick(kinds)();
    if (!random.chance(0.1)) return { headers, body };
    const key = random.pick(['k', 'a b', '', 'x'.repeat(256), '"', `key-${random.int(20)}`]);
    return { headers: { ...headers, 'Idempotency-Key': key }, body };
  };
}

function json(text: string | Buffer): HostilePost {
  return { headers: { 'Content-Type': 'application/json' }, body: Buffer.from(text) };
}

function anyValue(random: Random, depth = 0): unknown {
  if (depth > 3 || random.chance(0.7)) return random.pick(SCALARS);
  const items = Array.from({ length: random.int(5) }, () => anyValue(random, depth + 1));
  if (random.chance(0.5)) return items;
  return Object.fromEntries(items.map((item) => [random.pick(NAMES), item]));
}

function fieldsOf(random: Random): unknown {
  if (random.chance(0.05)) return anyValue(random);
  const wrong = Array.from({ length: random.int(4) }, () => [random.pick(NAMES), anyValue(random)]);
  return { ...PLACE, ...Object.fromEntries(wrong) };
}

function nested(random: Random): string {
  const depth = random.pick([100, 5_000, 200_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"tags":[', ']}'],
  ] as const);
  const end = random.chance(0.5) ? close.repeat(depth) : '';
  return `{"lat":1,"lon":2,"tags":${open.repeat(depth)}0${end}}`;
}

function form(random: Random): HostilePost {
  const count = random.chance(0.1) ? 3_000 : random.int(6);
  const pairs = Array.from({ length: count }, () => {
    const value = String(random.pick(SCALARS));
    const isGarbage = random.chance(0.3);
    return `${random.pick(NAMES)}=${isGarbage ? random.pick(['%', '%zz', '%ff%fe', '+']) : encodeURIComponent(value.replaceAll(/[\ud800-\udfff]/g, '?'))}`;
  });
  return { headers: {}, body: Buffer.from(pairs.join('&')) };
}

function multipart(parts: readonly Buffer[]): HostilePost {
  return { headers: { 'Content-Type': FORM }, body: formOf(parts) };
}

function fieldParts(random: Random): Buffer[] {
  const count = random.chance(0.03) ? 1_200 : random.int(4);
  const odd = Array.from({ length: count }, () => {
    const isJson = random.chance(0.1) ? 'application/json' : undefined;
    return part(random.pick(NAMES), String(random.pick(SCALARS)), undefined, isJson);
  });
  return [part('lat', '10.5'), part('lon', '-20.25'), ...odd];
}

function imagePart(random: Random): Buffer {
  const name = random.chance(0.95) ? 'image' : random.pick(NAMES);
  return part(
    name,
    imageOf(random),
    random.pick(FILE_NAMES),
    random.pick(['image/jpeg', 'text/html']),
  );
}

function imageOf(random: Random): Buffer {
  const whole = random.pick(IMAGES);
  const kind = random.int(20);
  if (kind < 5) return whole;
  if (kind < 10) return mutated(random, whole);
  if (kind < 13) return whole.subarray(0, random.int(whole.length));
  if (kind < 15)
    return Buffer.concat([whole, Buffer.from(random.pick(FOREIGN)), bytes(random, 500)]);
  if (kind < 17) return random.pick(SWOLLEN);
  if (kind < 19)
    return Buffer.concat([Buffer.from(random.pick(FOREIGN), 'latin1'), bytes(random, 200)]);
  return Buffer.concat([whole.subarray(0, 20), bytes(random, random.int(2_000))]);
}

/** A form that ends too soon, lacks pieces of its parts, or has broken headers. */
function brokenMultipart(random: Random): HostilePost {
  const { headers, body } = multipart([...fieldParts(random), imagePart(random)]);
  const kind = random.int(4);
  if (kind === 0) return { headers, body: body.subarray(0, random.int(body.length)) };
  if (kind === 1) return { headers, body: mutated(random, body) };
  if (kind === 2) return { headers, body: Buffer.concat([bytes(random, 3_000), body, body]) };
  const head = `--XX\r\n${`X-${'h'.repeat(random.int(500))}: v\r\n`.repeat(random.int(300))}\r\nx\r\n`;
  return { headers, body: Buffer.concat([Buffer.from(head), body]) };
}

function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(256)));
}

function mutated(random: Random, whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  for (let left = 1 + random.int(8); left > 0; left--)
    copy[random.int(copy.length)] = random.int(256);
  return copy;
}
