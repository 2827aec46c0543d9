import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { isSnapshotName } from '../../src/reload/source/source.js';
import { openConfiguredJournal } from '../../src/serving/journals.js';
import { FIRST_NOTE } from '../support/kept-posts.js';
import { startOwnService } from '../support/own-service.js';
import { runCommand } from '../support/service.js';
import { listen } from '../support/sockets.js';
import { assert, makeFolder, pluck, refusal, test } from '../support/uvu.js';

const logs: Record<string, unknown>[] = [];
const logger = pino({}, { write: (line: string) => logs.push(JSON.parse(line)) });

function open(snapshot: string, journal?: string, listenTimeout = 0) {
  const waits = { listenTimeout, journalWait: 30_000, journalTimeout: 10_000 };
  const settings = { snapshot, ...waits, ...(journal === undefined ? {} : { journal }) };
  return openConfiguredJournal(settings, { logger });
}

test.before.each(() => void logs.splice(0));

test('by default the journal stands beside the snapshot; with none there is no journal', async () => {
  const folder = makeFolder();
  const file = join(folder, 'notes.ndjson');
  writeFileSync(file, '');
  for (const [snapshot, name] of [
    [file, 'notes.ndjson.journal'],
    [folder, 'waypost.journal'],
    [join(folder, '*.ndjson'), 'waypost.journal'],
  ] as const) {
    const journal = await open(snapshot);
    assert.ok(existsSync(join(folder, name)), name);
    await journal!.close();
    for (const end of ['', '.new', '-journal', '.new-journal', '.aside-1760000000000']) {
      assert.not.ok(isSnapshotName(name + end), end);
    }
  }
  assert.is(await open(file, 'none'), undefined);
  assert.is(await open(join(folder, 'nothing.ndjson')), undefined);
  assert.not.ok(existsSync(join(folder, 'nothing.ndjson.journal')));
  assert.equal(logs, []);
});

test('where no journal can be made beside the snapshot, the service only reads, and logs that once', async () => {
  const folder = makeFolder();
  // a folder of the journal's name stops root, too
  mkdirSync(join(folder, 'waypost.journal'));
  assert.is(await open(folder), undefined);
  assert.equal([pluck(logs, 'msg'), pluck(logs, 'level')], [['points are only read'], [40]]);
  const asked = open(folder, join(folder, 'no-folder', 'a.journal'));
  assert.match(await refusal(asked), /: name another journal \(--journal FILE\), or/);
});

test('an existing journal that cannot be written is an error', async () => {
  const folder = makeFolder();
  // the name of the lock is too long, which stops root, too
  const snapshot = join(folder, 'n'.repeat(240));
  writeFileSync(snapshot, '');
  assert.is(await open(snapshot), undefined);
  writeFileSync(`${snapshot}.journal`, '');
  const ways = /it cannot be written \(.*\): name another journal \(--journal FILE\), or/;
  assert.match(await refusal(open(snapshot)), ways);
  assert.match(await refusal(open(folder, join(folder, 'none', 'x'))), /no folder .*none: name/);
});

test('a journal that another process owns is waited for, and then refused', async () => {
  const folder = makeFolder();
  const path = join(folder, 'a.journal');
  const first = await open(folder, path);
  const why =
    /another process owns it, after \d+ s: end that process.*--journal FILE.*--journal none/;
  assert.match(await refusal(open(folder, path, 2_000)), why);
  assert.equal(pluck(logs, 'msg'), ['waiting for the journal']);
  const second = open(folder, path, 20_000);
  await first!.close();
  await (await second)!.close();
});

test('a failed start releases the journal and ends the process', async () => {
  const folder = makeFolder();
  const [bad, good] = [join(folder, 'bad'), join(folder, 'good')];
  const journal = join(folder, 'points.journal');
  writeFileSync(bad, 'garbage\n');
  writeFileSync(good, FIRST_NOTE);
  const port = `${await listen(createServer())}`;
  const taken = `127\\.0\\.0\\.1:${port}: something else listens there; choose another --port.*`;
  const now = ['--listen-timeout', '0'];
  for (const [snapshot, where, workers, reason] of [
    [good, port, '1', taken],
    [good, port, '2', taken],
    [bad, '0', '2', 'bad: begins with .*'],
  ] as const) {
    const flags = ['--snapshot', snapshot, '--host', '127.0.0.1', '--port', where, ...now];
    const asked = ['serve', ...flags, '--workers', workers];
    const { code, stdout, stderr } = await runCommand(asked, { WAYPOST_JOURNAL: '' });
    assert.equal([code, stdout], [1, ''], stderr);
    assert.match(stderr, new RegExp(`^waypost: .*${reason}\n$`));
  }
  // after other failures nothing keeps the journal open
  for (const [given, reason] of [
    [['--snapshot', bad], /bad: begins with/],
    [
      ['--snapshot', good, '--operations-port', port],
      /something else listens there; choose another --operations-port/,
    ],
  ] as const) {
    const starting = startOwnService([...given, '--journal', journal, ...now]);
    assert.match(await refusal(starting), reason);
    await (await open(good, journal))!.close();
  }
});

test.run();
