import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createUploads } from '../../../src/posts/media/upload.js';
import { makeFolder } from '../../support/folder.js';
import { rejection } from '../../support/media.js';

const home = makeFolder();
const incoming = join(home, '.incoming');
mkdirSync(incoming);
const uploads = createUploads(incoming, 1_000, pino({ level: 'silent' }));

test('a client that leaves at once leaves no file, not even one that is made late', async () => {
  for (let round = 0; round < 20; round++) {
    const leaving = Array.from({ length: 50 }, async () => {
      const stream = new PassThrough();
      const receiving = rejection(uploads.receive(stream, 'a.png', 'a'));
      stream.destroy(new Error('gone'));
      assert.is((await receiving).message, 'gone');
    });
    await Promise.all(leaving);
    const upload = await uploads.receive(Readable.from([Buffer.from('abc')]), 'b.png', 'a');
    assert.equal([upload.bytes, readdirSync(incoming)], [3, [upload.file]]);
    await uploads.discard(upload);
  }
  assert.equal(readdirSync(incoming), []);
});

test.run();
