import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/cli/generate/random.js';
import { makeFolder } from '../support/folder.js';
import { FIRST_NOTE, suffer, toldNothing } from '../support/kept-posts.js';
import { metricsOf, readyOf } from '../support/operating.js';
import { ROOT, type Service, startService } from '../support/service.js';
import { IS_SOAK } from '../support/soak.js';
import { assert, test, testUnless } from '../support/uvu.js';
import { until } from '../support/wait.js';

const CLIENTS = 8;
const ROUNDS = IS_SOAK ? 20 : 1;
const LIBRARY = join(makeFolder(), 'failing-disk.so');
const source = join(ROOT, 'test/support/failing-disk.c');
const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', LIBRARY, source, '-ldl']);
const hasLibrary = process.platform === 'linux' && compiled.status === 0;

testUnless(
  hasLibrary ? undefined : 'gcc is needed to make a disk fail',
  'of a disk whose writes, flushes and truncations fail nothing acknowledged is lost or doubled',
  async () => {
    const folder = makeFolder();
    const random = new Random(11, 'point');
    const told = toldNothing(false);
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    const [snapshot, failing] = [join(folder, 'notes'), join(folder, 'failing')];
    writeFileSync(snapshot, FIRST_NOTE);
    const start = (): Promise<Service> => {
      rmSync(failing, { force: true });
      return startService(['--snapshot', snapshot, '--posts-per-address', '0'], {
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
  },
);

test.run();
