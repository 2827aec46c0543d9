import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packSnapshot } from '../../src/cli/pack.js';
import type { ServeSettings } from '../../src/cli/settings/values.js';
import { renderPoint } from '../../src/model/point.js';
import { UTC } from '../../src/model/time-zone.js';
import { createPostStats } from '../../src/posts/posts.js';
import { openJournal } from '../../src/posts/sqlite-journal.js';
import { createBuilder } from '../../src/reload/build.js';
import { Cell } from '../../src/reload/current.js';
import { openIntake } from '../../src/serving/intake.js';
import { makeFolder } from '../support/folder.js';
import { point } from '../support/native.js';

const logger = pino({ level: 'silent' });
const build = createBuilder({ maxInvalid: 0 });

test('the start keeps the image of a point that the first snapshot retires under another id', async () => {
  const folder = makeFolder();
  const image = '/media/map_data_points/8/photo_00000000.jpg';
  const stored = join(folder, image);
  const mark = join(folder, 'media/.incoming/8.photo_00000000.jpg.new');
  for (const path of [stored, mark]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
  }
  // of a process that was killed long ago
  utimesSync(mark, 1, 1);
  const journal = join(folder, 'points.journal');
  const before = await openJournal(journal);
  const posted = point({ id: 8, image });
  const createdAt = posted.createdAt.micros;
  await before.append({ id: 8, createdAt, record: renderPoint(posted) });
  await before.close();
  // the job gave the point an id of its own
  const record = `{"id":70,"lat":1,"lon":2,"image":"${image}","created_at":"2023-05-01T12:00:00Z"}`;
  const path = join(folder, 'notes.waypost');
  writeFileSync(join(folder, 'notes.ndjson'), `${record}\n`);
  const options = { print: () => {}, watermark: { journal: before.state.name, sequence: 1 } };
  await packSnapshot(join(folder, 'notes.ndjson'), path, options);

  const some = { journal, media: join(folder, 'media'), maxImagePixels: 1, listenTimeout: 0 };
  const settings = some as unknown as ServeSettings;
  const parts = { current: new Cell(), stats: createPostStats(), logger, renew() {} };
  const intake = await openIntake(settings, UTC, parts);
  const generation = await build({ path, unless: undefined });
  if (generation === 'unchanged') throw new Error('nothing was built');
  await intake.serve(generation);
  await intake.tidy();
  await intake.close();
  assert.equal([existsSync(stored), existsSync(mark)], [true, false]);
});

test.run();
