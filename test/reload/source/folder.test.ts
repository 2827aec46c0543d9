import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import {
  changeOf,
  type LocalOptions,
  openLocalSource,
  statIfAny,
} from '../../../src/reload/source/local.js';
import type { Source } from '../../../src/reload/source/source.js';
import { writeAged } from '../../support/folder.js';
import { replaceFile } from '../../support/marked.js';
import { assert, failure, makeFile, makeFolder, refusal, test } from '../../support/uvu.js';

/** A source that is told of nothing. */
function sourceOf(
  path: string,
  journal?: string,
  others?: Pick<LocalOptions, 'tokens' | 'companion'>,
): Promise<Source> {
  const silent = pino({ level: 'silent' });
  return openLocalSource({ path, journal, ...others, mode: 'off', pollMs: 0 }, silent);
}

async function namesOf(source: Source): Promise<string[]> {
  return (await source.list()).map(({ path }) => basename(path));
}

test('a file is its own only candidate', async () => {
  const path = makeFile('one', 'README.md');
  const [own, ...others] = await (await sourceOf(path)).list();
  assert.equal([own!.path, own!.modifiedAt, others], [path, fs.statSync(path).mtimeMs, []]);
});

test('a folder has its files for candidates, the newest first', async () => {
  const folder = makeFolder();
  for (const [name, time] of Object.entries({ b: 2_000, a: 3_000, c: 1_000, d: 2_000 })) {
    writeAged(join(folder, name), time);
  }
  const names = await namesOf(await sourceOf(folder));
  assert.equal(names, ['a', 'd', 'b', 'c'], 'of two of the same age the later name comes first');
});

test('only names that a snapshot may have count, links to files among them', async () => {
  const folder = makeFolder();
  const never = ['.hidden', '..data', '#points#', 'points~', 'points.tmp', 'points.ndjson.part'];
  never.push('points.PARTIAL', 'points.crdownload', '.points.swp', 'points.swp', 'points.lock');
  never.push('points.sha256', 'points.md5', 'SHA256SUMS', 'points.asc', 'README', 'README.txt');
  never.push('readme.md', 'LICENSE', 'export.log', 'points.bak', 'points.filepart');
  const ever = ['points', 'points.ndjson', 'points.csv.gz', 'part', 'tmp', 'points.2024-01-01'];
  ever.push('points.txt', 'sha256', 'readmes.csv', 'a b.json');
  for (const name of [...never, ...ever]) writeAged(join(folder, name), 1_000);
  fs.mkdirSync(join(folder, 'inner'));
  writeAged(join(folder, 'inner', 'target'), 1_000);
  fs.symlinkSync('inner/target', join(folder, 'link'));
  fs.symlinkSync('inner', join(folder, 'folder-link'));
  fs.symlinkSync('nowhere', join(folder, 'dangling'));
  assert.equal((await namesOf(await sourceOf(folder))).sort(), [...ever, 'link'].sort());
});

test('the journal and the files beside it are no snapshots, whatever its name', async () => {
  const folder = makeFolder();
  const beside = ['', '-journal', '.new', '.new-journal', '.aside-1760000000000'];
  for (const suffix of beside) writeAged(join(folder, `notes.db${suffix}`), 1_000);
  const others = ['notes.db.gz', 'notes.dbx', 'other.db', 'other.db-journal'];
  for (const name of others) writeAged(join(folder, name), 1_000);
  const outside = join(folder, '..', `${basename(folder)}-link`);
  fs.symlinkSync(folder, outside);
  fs.symlinkSync('notes.db', join(folder, '.link'));
  try {
    for (const journal of [join(folder, 'notes.db'), join(outside, '.link')]) {
      assert.equal((await namesOf(await sourceOf(folder, journal))).sort(), others, journal);
    }
  } finally {
    fs.rmSync(outside);
  }
  fs.symlinkSync('other.db', join(folder, '.companion'));
  const own = { tokens: join(folder, 'notes.dbx'), companion: join(folder, '.companion') };
  const names = await namesOf(await sourceOf(folder, join(folder, 'notes.db'), own));
  assert.equal(names, ['other.db-journal', 'notes.db.gz']);
  // a link that leads out of the folder
  const link = join(folder, 'linked');
  fs.symlinkSync(makeFile('tokens'), link);
  const linked = await sourceOf(folder, undefined, { tokens: link });
  assert.not((await namesOf(linked)).includes('linked'));
  assert.not((await namesOf(await sourceOf(folder, link))).includes('linked'));
  fs.rmSync(link);
  const elsewhere = await sourceOf(folder, join(folder, '..', 'notes.db'));
  assert.is((await namesOf(elsewhere)).length, others.length + beside.length);
});

test('a pattern chooses among the names of a folder', async () => {
  const folder = makeFolder();
  const names = ['a.waypost', 'ab.waypost', 'a.waypost.gz', 'b.ndjson', 'a+b.waypost', 'aXb'];
  for (const name of [...names, '.a.waypost', 'a.waypost.tmp'])
    writeAged(join(folder, name), 1_000);
  const found = async (pattern: string): Promise<string[]> =>
    (await namesOf(await sourceOf(join(folder, pattern)))).sort();
  assert.equal(await found('*.waypost'), ['a+b.waypost', 'a.waypost', 'ab.waypost']);
  assert.equal(await found('a?.waypost'), ['ab.waypost']);
  assert.equal(await found('a*b*'), ['a+b.waypost', 'aXb', 'ab.waypost']);
  assert.equal(await found('*'), [...names].sort());
  const none = await failure(namesOf(await sourceOf(join(folder, '*.csv'))));
  assert.match(none.message, /there is no file in this folder that \*\.csv fits/);
  writeAged(join(folder, 'what?'), 1_000);
  assert.equal(await found('what?'), ['what?'], 'a file of that very name is meant first');
});

test('what is not there throws', async () => {
  const folder = makeFolder();
  const missing = await sourceOf(join(folder, 'missing'));
  assert.is((await failure(missing.list())).code, 'ENOENT');
  const reason = await refusal((await sourceOf(folder)).list());
  assert.is(reason, `${folder}: there is no file in this folder that can be a snapshot`);
});

test('each listing finds what came, went, was replaced or written to, without an event', async () => {
  const folder = makeFolder();
  for (let i = 0; i < 50; i++) writeAged(join(folder, `old-${i}`), 1_000 + i);
  const source = await sourceOf(folder);
  assert.is((await namesOf(source)).length, 50);
  writeAged(join(folder, 'new'), 5_000);
  assert.is((await namesOf(source))[0], 'new');
  fs.rmSync(join(folder, 'new'));
  assert.is((await namesOf(source))[0], 'old-49');
  replaceFile(join(folder, 'old-0'), 'y');
  assert.is((await namesOf(source))[0], 'old-0');
  const later = Date.now() / 1000 + 60;
  writeAged(join(folder, 'old-1'), later);
  assert.is((await namesOf(source))[0], 'old-1', 'in place');
  fs.symlinkSync('old-2', join(folder, 'link'));
  assert.ok((await namesOf(source)).includes('link'));
  fs.rmSync(join(folder, 'old-2'));
  assert.not.ok((await namesOf(source)).includes('link'), 'a link that dangles now');
  writeAged(join(folder, 'old-2'), later + 1);
  assert.equal((await namesOf(source)).slice(0, 2), ['old-2', 'link']);
});

test('what was looked at in a listing that failed is listed by the next one', async () => {
  const parent = makeFolder();
  const [folder, way] = [join(parent, 'points'), join(parent, 'way')];
  fs.mkdirSync(folder);
  writeAged(join(folder, 'old'), 1_000);
  writeAged(join(folder, 'written'), 2_000);
  const source = await sourceOf(folder);
  assert.equal(await namesOf(source), ['written', 'old']);
  // a link that cannot be followed for now, though not for want of a file
  fs.symlinkSync('x'.repeat(300), way);
  fs.symlinkSync('../way/link', join(folder, 'link'));
  writeAged(join(folder, 'new'), 4_000);
  writeAged(join(folder, 'written'), 3_000);
  assert.is((await failure(source.list())).code, 'ENAMETOOLONG');
  fs.rmSync(way);
  fs.mkdirSync(way);
  writeAged(join(way, 'link'), 5_000);
  assert.equal(await namesOf(source), ['link', 'new', 'written', 'old']);
});

test('a checksum file is part of what identifies a snapshot', async () => {
  const folder = makeFolder();
  for (const root of [folder, join(folder, 'points')]) {
    fs.rmSync(join(folder, 'points.sha256'), { force: true });
    writeAged(join(folder, 'points'), 1_000);
    const source = await sourceOf(root);
    const seen = new Set<string>();
    const look = async (): Promise<string | undefined> => {
      const [candidate] = await source.list();
      seen.add(candidate!.identity);
      return (await source.open(candidate!, () => {})).checksum;
    };
    assert.is(await look(), undefined);
    fs.writeFileSync(join(folder, 'points.sha256'), 'one');
    assert.is(await look(), 'one');
    fs.appendFileSync(join(folder, 'points.sha256'), 'two');
    assert.is(await look(), 'onetwo');
    assert.is(seen.size, 3);
    fs.rmSync(join(folder, 'points.sha256'));
    assert.is(await look(), undefined);
    assert.is(seen.size, 3, 'as it was at first');
  }
});

test('writing changes the identity, replacing the inode too, looking neither', async () => {
  const path = makeFile('one');
  const first = await statIfAny(path);
  assert.equal(await statIfAny(path), first);
  fs.appendFileSync(path, 'more');
  const longer = await statIfAny(path);
  assert.is(changeOf(first, longer), 'written');
  fs.utimesSync(path, 1, 1);
  const touched = await statIfAny(path);
  assert.is(changeOf(longer, touched), 'written');
  replaceFile(path, 'onemore');
  const replaced = await statIfAny(path);
  assert.is(changeOf(touched, replaced), 'replaced');
  assert.is(changeOf(replaced, replaced), 'same');
  fs.rmSync(path);
  assert.is(await statIfAny(path), undefined);
  assert.is(changeOf(replaced, undefined), 'replaced');
});

test('what became of an opened snapshot counts all that it is read with', async () => {
  const folder = makeFolder();
  const [path, companion] = [join(folder, 'points'), join(folder, 'notifications')];
  for (const one of [path, companion]) fs.writeFileSync(one, 'one');
  const options = { path, companion, mode: 'off', pollMs: 0 } as const;
  const source = await openLocalSource(options, pino({ level: 'silent' }));
  const [before] = await source.list();
  const opened = await source.open(before!, () => {});
  assert.is(await opened.state(), 'same');
  replaceFile(path, 'two');
  assert.is(await opened.state(), 'replaced');
  fs.appendFileSync(companion, 'two');
  assert.is(await opened.state(), 'written');
  assert.is.not((await source.list())[0]!.identity, before!.identity);
});

test.run();
