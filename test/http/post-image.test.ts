import { mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { countOf, LIST, type Reply } from '../support/client.js';
import { coloursOf, imagePost, JPEG, PNG, phoneJpeg, SECRET } from '../support/images.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { startService } from '../support/service.js';
import { assert, makeFolder, test, until } from '../support/uvu.js';

const home = makeFolder();
const media = join(home, 'media');
const flags = ['--media', media, '--max-image-bytes', '200000'];
flags.push('--journal', join(home, 'journal'), '--max-image-pixels', '1000000');
mkdirSync(media);
const killed = await startService([...flags, '--workers', '2']);
let service: OwnService = killed;

interface Note {
  readonly id: number;
  readonly image?: string;
}

interface Given {
  readonly name?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: OutgoingHttpHeaders;
}

function post(file: Buffer, { name = 'photo.jpg', fields, headers }: Given = {}): Promise<Reply> {
  const all = { lat: '10.5', lon: '-20.25', ...fields };
  return service.get(LIST, imagePost(all, file, name, undefined, headers));
}

/** Every stored image, by its name in records, once no upload is open. */
async function stored(): Promise<string[]> {
  await until('nothing is on its way', () => readdirSync(join(media, '.incoming')).length === 0);
  const folder = join(media, 'map_data_points');
  return readdirSync(folder).flatMap((id) =>
    readdirSync(join(folder, id)).map((name) => `/media/map_data_points/${id}/${name}`),
  );
}

test('a point has its image at once, upright and without metadata', async () => {
  const sent = phoneJpeg(6);
  assert.ok(sent.includes(SECRET));
  const reply = await post(sent, { name: '../Mäki 1.JPEG', fields: { comment: 'mäki' } });
  assert.is(reply.status, 201, reply.text);
  const { id, image } = reply.json<Note>();
  assert.match(image!, new RegExp(`^/media/map_data_points/${id}/Maki_1_[0-9a-f]{8}\\.jpg$`));
  for (let i = 0; i < 4; i++) {
    // asked of both threads
    assert.equal((await service.get(`${LIST}${id}/`)).json(), reply.json());
    const { status, headers, body } = await service.get(image!);
    assert.equal([status, headers['content-type']], [200, 'image/jpeg']);
    assert.not(body.includes(SECRET));
    assert.equal(await coloursOf(body), ['blue', 'red', 'white', 'lime']);
  }
  assert.equal(await stored(), [image]);
});

test('errors of fields and image are reported together, and no file stays', async () => {
  const [before, count] = [await stored(), await countOf(service)];
  const text =
    'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';
  const both = await post(Buffer.from('notajpeg'), { fields: { lat: '91' } });
  assert.is(both.status, 400);
  const { lat, image } = both.json<{ lat: string[]; image: string[] }>();
  assert.equal([lat.length, image], [1, [text]]);
  // a good image with a bad point
  const first = await post(JPEG, { fields: { lon: 'x' } });
  assert.equal(first.json(), { lon: ['A valid number is required.'] });
  const empty = await post(Buffer.alloc(0));
  assert.equal(empty.json(), { image: ['The submitted file is empty.'] });
  const create = { width: 1001, height: 1000, channels: 3, background: 'red' } as const;
  const large = await post(await sharp({ create }).png().toBuffer());
  assert.equal(large.json(), {
    image: ['The image has 1001 × 1000 pixels. Expected at most 1000000 altogether.'],
  });
  const long = await post(Buffer.alloc(200_001));
  assert.is(long.status, 413);
  assert.equal(long.json(), { image: ['The image is too large. Expected at most 200000 bytes.'] });
  assert.equal(await stored(), before);
  assert.is(await countOf(service), count);
});

test('the same post with the same key stores its image once', async () => {
  const headers = { 'Idempotency-Key': 'once' };
  const count = await countOf(service);
  const replies = await Promise.all([post(PNG, { headers }), post(PNG, { headers })]);
  const [one, two] = replies.map((reply) => reply.json<Note>());
  assert.equal(one, two);
  assert.match(one!.image!, /_[0-9a-f]{8}\.png$/);
  const other = await post(JPEG, { headers });
  assert.is(other.status, 422);
  const own = (await stored()).filter((image) => image.includes(`/${one!.id}/`));
  assert.equal(own, [one!.image]);
  assert.is(await countOf(service), count + 1);
});

test('images of accepted points survive a kill, and unfinished uploads do not', async () => {
  const { image } = (await post(JPEG)).json<Note>();
  const before = (await stored()).sort();
  process.kill(killed.pid, 'SIGKILL');
  await killed.ended;
  const half = join(media, '.incoming', 'half.upload');
  writeFileSync(half, 'half');
  // uploads younger than an hour are kept: they may be open
  utimesSync(half, 1, 1);
  service = await startOwnService(flags);
  assert.equal((await stored()).sort(), before);
  assert.is((await service.get(image!)).status, 200);
});

test('an image whose post a failing journal refuses does not stay', async () => {
  const [other, place] = [join(home, 'other'), join(home, 'place')];
  for (const folder of [other, place]) mkdirSync(folder);
  const own = await startOwnService(['--media', other, '--journal', join(place, 'journal')]);
  renameSync(place, join(home, 'gone'));
  await until('posts are refused', async () => {
    return (await own.get('/health/ready')).text.includes('"accepted":false');
  });
  const { status, text } = await own.get(LIST, imagePost({ lat: '1', lon: '2' }, PNG));
  assert.is(status, 503);
  assert.match(text, /"detail":"[^"]*: it cannot be opened[^"]*"/);
  assert.not.match(text, /all the same/);
  assert.equal(readdirSync(join(other, 'map_data_points')), []);
});

test.run();
