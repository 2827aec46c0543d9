import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/cli/generate/random.js';
import { type Envelope, jsonPost, LIST } from '../support/client.js';
import { filesIn } from '../support/folder.js';
import { imagePost, JPEG } from '../support/images.js';
import { FIRST_NOTE, suffer, toldNothing } from '../support/kept-posts.js';
import { metricsOf, readyOf } from '../support/operating.js';
import { startOwnService } from '../support/own-service.js';
import { ROOT, type Service, startService } from '../support/service.js';
import {
  assert,
  IS_SOAK,
  makeFile,
  makeFolder,
  pluck,
  test,
  testUnless,
  until,
} from '../support/uvu.js';

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const missing = hasPrlimit
  ? undefined
  : 'prlimit is needed to take the room of a running process away';
const AROUND = `${LIST}?bbox=-20.3,10.4,-20.2,10.6`;

/** Limits the size of files that a service may write. */
function allow(bytes: string, { pid }: Service): void {
  assert.is(spawnSync('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`]).status, 0);
}

const LIBRARY = join(makeFolder(), 'failing-disk.so');
const source = join(ROOT, 'test/support/failing-disk.c');
const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', LIBRARY, source, '-ldl']);
const hasLibrary = process.platform === 'linux' && compiled.status === 0;
const missingLibrary = hasLibrary ? undefined : 'gcc is needed to make a disk fail';

const media = makeFolder();
const journal = join(makeFolder(), 'points.journal');
const flags = ['--journal', journal, '--media', media, '--snapshot', makeFile(FIRST_NOTE)];
/** While this file exists, the journal cannot grow beyond 100,000 bytes. */
const full = join(makeFolder(), 'full');
const service = await startService(flags, {
  LD_PRELOAD: LIBRARY,
  FAIL_PATH: '.journal',
  FAIL_BEHIND: '100000',
  FAIL_SWITCH: full,
});

testUnless(missingLibrary, 'a full disk is reported, and the journal stays its file', async () => {
  const post = async (): Promise<number> => {
    const fields = { lat: '1', lon: '2', comment: 'x'.repeat(10_000) };
    return (await service.get(LIST, jsonPost(fields))).status;
  };
  const { ino } = statSync(journal);
  writeFileSync(full, '');
  await until('it is full', async () => (await post()) === 503);
  // the service tries to write every 500 ms
  for (let i = 0; i < 5; i++) {
    assert.is(await post(), 503);
    await delay(300);
  }
  rmSync(full);
  await until('there is room', async () => (await readyOf(service)).posts.accepted);
  assert.is(await post(), 201);
  const said = service.logs.flatMap(({ level, msg }) => (Number(level) > 30 ? [msg] : []));
  assert.equal(said, ['no points are accepted']);
  assert.is(statSync(journal).ino, ino);
  assert.equal(readdirSync(dirname(journal)).sort(), ['points.journal', 'points.journal-journal']);
});

testUnless(missing, 'on a full disk posts get 503, leave nothing, and go on later', async () => {
  const postImage = async (): Promise<number> => {
    const fields = { lat: '10.5', lon: '-20.25', comment: 'image' };
    return (await service.get(LIST, imagePost(fields, JPEG))).status;
  };
  const details: string[] = [];
  const post = async (comment: string): Promise<number> => {
    const fields = { lat: '10.5', lon: '-20.25', comment };
    const reply = await service.get(LIST, jsonPost(fields));
    if (reply.status === 503) details.push(reply.json<{ detail: string }>().detail);
    return reply.status;
  };
  const comments = async (): Promise<string[]> => {
    const { results } = (await service.get(AROUND)).json<{ results: { comment: string }[] }>();
    return pluck(results, 'comment');
  };
  assert.is(await post('first'), 201);
  allow('100', service);
  assert.equal([await postImage(), filesIn(media)], [503, 0]);
  allow('512', service);
  const refused = await Promise.all([post('second'), post('third')]);
  assert.equal(refused, [503, 503]);
  assert.equal(await comments(), ['first']);
  // health follows the answers after a moment
  await until('it says so', async () => !(await readyOf(service)).posts.accepted);
  const { posts } = await readyOf(service);
  assert.match(posts.reason!, /^the journal fails: the disk /);
  for (const one of details) assert.match(one, `not accepted: ${posts.reason}`);
  // one alone may have waited for the transaction that failed: it was never written
  assert.ok(details.some((one) => one.includes('; it may be there all the same')));
  assert.is(details.length, 2);

  allow('unlimited', service);
  await until('there is room', async () => (await readyOf(service)).posts.accepted);
  assert.equal([await post('fourth'), await postImage()], [201, 201]);
  assert.equal(await comments(), ['first', 'fourth', 'image']);
  const metrics = await metricsOf(service);
  assert.is(metrics.value('waypost_images_total', { outcome: 'taken' }), 1);
  for (const name of ['bytes', 'seconds']) {
    assert.ok(metrics.value(`waypost_image_${name}_total`) > 0, name);
  }
  // the upload goes after the answer
  await until('the image is left', () => filesIn(media) === 1);
  await service.stop();
  const again = await startOwnService(flags);
  assert.is((await again.get(AROUND)).json<Envelope>().count, 3);
});

const CLIENTS = IS_SOAK ? 8 : 4;
const ROUNDS = IS_SOAK ? 20 : 1;
testUnless(missingLibrary, 'a disk that fails loses and doubles no acknowledged post', async () => {
  const folder = makeFolder();
  const random = new Random(11, 'point');
  const told = toldNothing(false);
  const inside = join(folder, 'inside');
  mkdirSync(inside);
  const [snapshot, failing] = [join(folder, 'notes'), join(folder, 'failing')];
  writeFileSync(snapshot, FIRST_NOTE);
  const start = (): Promise<Service> => {
    rmSync(failing, { force: true });
    return startService(['--snapshot', snapshot], {
      WAYPOST_JOURNAL: join(inside, 'points.journal'),
      LD_PRELOAD: LIBRARY,
      FAIL_PATH: '.journal',
      FAIL_ONE_IN: String(2 + random.int(30)),
      FAIL_SWITCH: failing,
    });
  };
  const ordeal = { clients: CLIENTS, told, random, start };
  let service = await start();
  for (let round = 0; round < ROUNDS; round++) {
    service = await suffer(service, `round-${round}`, ordeal, async (more) => {
      writeFileSync(failing, '');
      await until('posts are refused', async () => {
        const { accepted, reason } = (await readyOf(service)).posts;
        if (!accepted) assert.match(reason!, /^the journal fails: /);
        return !accepted;
      });
      await delay(random.int(200));
      if (random.chance(0.5)) {
        rmSync(failing);
        await until('posts are taken', async () => (await readyOf(service)).posts.accepted);
        await more();
        assert.is((await metricsOf(service)).value('waypost_journal_failing'), 0);
      }
    });
  }
});

test.run();
