import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pino } from 'pino';
import { incomingOf, MediaUnavailable } from '../../../src/posts/media/folder.js';
import type { CheckedImage, Media } from '../../../src/posts/media/media.js';
import { createUploads } from '../../../src/posts/media/upload.js';
import { JPEG, makeMediaFolder, PNG } from '../../support/images.js';
import { assert, failure, makeFolder, test } from '../../support/uvu.js';

const { media, accept, folder, logger, upload, files, reopen } = makeMediaFolder();
const incoming = incomingOf(folder, undefined);
test.after.each(() => {
  for (const name of ['.incoming', 'map_data_points']) {
    rmSync(join(folder, name), { recursive: true, force: true });
    mkdirSync(join(folder, name));
  }
});

async function checked(name = 'photo.jpg', bytes = JPEG): Promise<CheckedImage> {
  const image = await accept(bytes, name);
  assert.type(image, 'object');
  return image as CheckedImage;
}

test('an image stands under the id of its point, by a safe name', async () => {
  const { file, ...image } = await checked('../Näkymä 1.png');
  assert.match(image.name, /^Nakyma_1_[0-9a-f]{8}\.jpg$/);
  const bytes = readFileSync(join(folder, '.incoming', file));
  const address = await media.store(3001, { file, ...image });
  assert.is(address, `/media/map_data_points/3001/${image.name}`);
  const path = `map_data_points/3001/${image.name}`;
  assert.equal(files(), ['.incoming', path]);
  assert.equal(readFileSync(join(folder, path)), bytes);
});

test('an image whose record is refused goes, and those beside it stay', async () => {
  const first = await media.store(7, await checked());
  await media.remove(first);
  assert.equal(files(), ['.incoming', 'map_data_points']);
  // a second removal, as after an error on the way, is harmless
  await media.remove(first);

  const kept = await media.store(7, await checked('kept.jpg'));
  await media.remove(await media.store(7, await checked('gone.png', PNG)));
  assert.equal(files(), ['.incoming', kept.slice('/media/'.length)]);
});

test('what had come in when a process was killed goes once it is an hour old', async () => {
  const posted = await media.store(1, await checked());
  await upload(PNG);
  await checked();
  const restarted: Media = reopen();
  // what is young may be on its way
  await restarted.sweep();
  assert.is(readdirSync(incoming).length, 2);
  for (const name of readdirSync(incoming)) utimesSync(join(incoming, name), 1, 1);
  await restarted.sweep();
  assert.equal(files(), ['.incoming', posted.slice('/media/'.length)]);
});

test('a folder that cannot be written fails as unavailable, and nothing is left', async () => {
  const image = await checked();
  // a file where the folder of the point would be
  writeFileSync(join(folder, 'map_data_points/5'), '');
  const error = await failure(media.store(5, image));
  assert.instance(error, MediaUnavailable);
  assert.equal(files(), ['.incoming', 'map_data_points/5']);

  rmSync(join(folder, '.incoming'), { recursive: true });
  writeFileSync(join(folder, '.incoming'), '');
  const late = await failure(upload(JPEG));
  assert.instance(late, MediaUnavailable);
  assert.is(late.message, 'images cannot be stored (ENOTDIR)');
});

test('an upload that breaks off leaves nothing and fails as its stream did', async () => {
  const broken = new Readable({ read() {} });
  broken.push(JPEG);
  setImmediate(() => broken.destroy(new Error('the client left')));
  const error = await failure(createUploads(incoming, 1, logger).receive(broken, 'x.jpg', 'a'));
  assert.is(error.message, 'the client left');
  assert.equal(files(), ['.incoming', 'map_data_points']);
});

const ownIncoming = join(makeFolder(), '.incoming');
mkdirSync(ownIncoming);
const ownUploads = createUploads(ownIncoming, 1_000, pino({ level: 'silent' }));

test('a client that leaves at once leaves no file, not even one that is made late', async () => {
  for (let round = 0; round < 20; round++) {
    const leaving = Array.from({ length: 50 }, async () => {
      const stream = new PassThrough();
      const receiving = failure(ownUploads.receive(stream, 'a.png', 'a'));
      stream.destroy(new Error('gone'));
      assert.is((await receiving).message, 'gone');
    });
    await Promise.all(leaving);
    const upload = await ownUploads.receive(Readable.from([Buffer.from('abc')]), 'b.png', 'a');
    assert.equal(readdirSync(ownIncoming), [upload.file]);
    assert.is(readFileSync(join(ownIncoming, upload.file), 'utf8'), 'abc');
    await ownUploads.discard(upload);
  }
  assert.equal(readdirSync(ownIncoming), []);
});

test.run();
