import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import sharp from 'sharp';
import { createDecoder, type DecodeJob } from '../../../src/posts/media/decoder.js';
import { MediaUnavailable } from '../../../src/posts/media/folder.js';
import { makeFolder } from '../../support/folder.js';
import { JPEG } from '../../support/images.js';
import { rejection } from '../../support/media.js';
import { assert, test } from '../../support/uvu.js';
import { until } from '../../support/wait.js';

// own process: it looks for the process of a decoder among the children of this one

const home = makeFolder();

const SMALL = join(home, 'small.jpg');
const LARGE = join(home, 'large.png');
writeFileSync(SMALL, JPEG);
const grey = { width: 3000, height: 3000, channels: 3, background: 'grey' } as const;
await sharp({ create: grey }).png({ compressionLevel: 1 }).toFile(LARGE);

const LIMITS = { patienceMs: 60_000, idleMs: 60_000, maxWaiting: 8 };
let jobs = 0;

function job(input: string): DecodeJob {
  return { input, output: join(home, `${jobs++}.image`), maxPixels: 1e9 };
}

/** The processes that decode for this one. */
function decoders(): number[] {
  const { pid } = process;
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return children.map(Number).filter((child) => {
    const path = `/proc/${child}/cmdline`;
    return existsSync(path) && readFileSync(path, 'utf8').includes('decode-process.js');
  });
}

test('an image that takes too long is given up, and the next one is taken', async () => {
  const decoder = createDecoder({ ...LIMITS, patienceMs: 10 });
  const late = await decoder.decode(job(LARGE), 'a');
  assert.equal(late, { kind: 'refused', text: 'The image took more than 0.01 seconds to decode.' });
  assert.equal(decoders(), []);
  decoder.close();
});

/** Hundredths of a second that a process has computed. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

test('a process that dies takes the image with it that it had begun', async () => {
  const decoder = createDecoder(LIMITS);
  assert.is((await decoder.decode(job(SMALL), 'a')).kind, 'image');
  const [first] = decoders();
  // takes a second or so
  const slow = join(home, 'slow.png');
  const blank = { width: 8_000, height: 4_900, channels: 3, background: 'grey' } as const;
  await sharp({ create: blank }).png({ compressionLevel: 1 }).toFile(slow);
  const ticks = ticksOf(first!);
  const dying = decoder.decode(job(slow), 'a');
  await until('it computes', () => ticksOf(first!) > ticks + 2);
  process.kill(first!, 'SIGKILL');
  const next = decoder.decode(job(SMALL), 'a');
  assert.equal(await dying, { kind: 'refused', text: 'The image could not be decoded.' });
  assert.is((await next).kind, 'image');
  assert.is.not(decoders()[0], first);
  decoder.close();
  await until('the process has ended', () => decoders().length === 0);
});

test('an image that a dead process had not begun is given to another one', async () => {
  const decoder = createDecoder(LIMITS);
  assert.is((await decoder.decode(job(SMALL), 'a')).kind, 'image');
  const [first] = decoders();
  process.kill(first!, 'SIGSTOP');
  const given = decoder.decode(job(SMALL), 'a');
  await setImmediate();
  process.kill(first!, 'SIGKILL');
  assert.is((await given).kind, 'image');

  // between two images
  process.kill(decoders()[0]!, 'SIGKILL');
  await until('the process has ended', () => decoders().length === 0);
  assert.is((await decoder.decode(job(SMALL), 'a')).kind, 'image');
  decoder.close();
  await until('the process has ended', () => decoders().length === 0);
});

test('more images than may wait are turned away', async () => {
  const decoder = createDecoder({ ...LIMITS, maxWaiting: 2 });
  const taken = [0, 1, 2].map(() => decoder.decode(job(SMALL), 'a'));
  const error = await rejection(decoder.decode(job(SMALL), 'a'));
  assert.instance(error, MediaUnavailable);
  assert.is(error.message, 'too many images are waiting');
  for (const one of taken) assert.is((await one).kind, 'image');
  assert.is((await decoder.decode(job(SMALL), 'a')).kind, 'image');
  decoder.close();
});

test('what cannot be read or written is the fault of the system', async () => {
  const decoder = createDecoder(LIMITS);
  const gone = await rejection(decoder.decode(job(join(home, 'nope.jpg')), 'a'));
  assert.instance(gone, MediaUnavailable);
  assert.is(gone.message, 'images cannot be decoded (ENOENT)');
  const nowhere = { ...job(SMALL), output: join(home, 'nope/x.image') };
  const lost = await rejection(decoder.decode(nowhere, 'a'));
  assert.is(lost.message, 'images cannot be decoded (ENOENT)');
  decoder.close();
});

test('the process knows no secret, steps back, and ends when there is nothing to do', async () => {
  await until('others have ended', () => decoders().length === 0);
  process.env['WAYPOST_ADMIN_TOKEN'] = 'secret-of-the-service';
  const decoder = createDecoder({ ...LIMITS, idleMs: 200 });
  try {
    await decoder.decode(job(SMALL), 'a');
    const [pid] = decoders();
    assert.not(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('secret-of-the-service'));
    assert.is(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '1000');
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const path = `/proc/${pid}/task/${thread}/stat`;
      // one that has ended since the folder was read
      if (!existsSync(path)) continue;
      // field 19 of the line is how nice it is
      const stat = readFileSync(path, 'utf8');
      const nice = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
      assert.ok(nice >= 10, `${thread}: ${nice}`);
    }
  } finally {
    delete process.env['WAYPOST_ADMIN_TOKEN'];
  }
  await until('the process has ended', () => decoders().length === 0);
  assert.is((await decoder.decode(job(SMALL), 'a')).kind, 'image');
  decoder.close();
});

test.run();
