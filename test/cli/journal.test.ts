import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { exportJournal, listJournal, readPosts } from '../../src/cli/journal-posts.js';
import { packSnapshot } from '../../src/cli/pack.js';
import type { Watermark } from '../../src/formats/snapshot.js';
import type { Point } from '../../src/model/point.js';
import { readPostLine } from '../../src/posts/journal.js';
import { appendAll, makeJournal, moveOf, newPost, postsIn } from '../support/journals.js';
import {
  blockOf,
  CREATED_AT,
  notification,
  point,
  readOnePass,
  writeNative,
} from '../support/native.js';
import { ROOT, runInThread } from '../support/service.js';
import { ascending, assert, pluck, refusal, test } from '../support/uvu.js';

async function listed(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of listJournal(path)) lines.push(line);
  return lines;
}

async function exported(path: string, after = 0): Promise<[output: string, said: string]> {
  const stdout = new PassThrough();
  const said: string[] = [];
  await exportJournal(path, '-', {
    after: behind(after),
    stdout,
    print: (line) => void said.push(line),
  });
  return [await text(stdout.end()), said.join('')];
}

function behind(sequence: number, journal = ''): Watermark {
  return { journal, sequence };
}

/** A journal of four posts, the third of which has moved behind the others. */
async function filled() {
  const { path, open, folder } = makeJournal();
  const journal = await open();
  const posts = [newPost(101), newPost(102, '7 a b'), newPost(103, '- c'), newPost(104)];
  await appendAll(journal, posts);
  await journal.move([moveOf(3, 103, 120)]);
  return { path, folder, journal };
}

test('list and export read a journal that no process has open, and a copy of one that is', async () => {
  const { path, folder, journal } = await filled();
  const { name } = journal.state;
  // as lines have them: without keys whose value is undefined
  const posts = JSON.parse(JSON.stringify(await postsIn(journal)));
  const copy = join(folder, 'copy.journal');
  copyFileSync(path, copy);
  assert.match(await refusal(listed(path)), `${path}: another process owns it: copy the file`);
  await journal.close();
  for (const file of [path, copy]) {
    const lines = await listed(file);
    assert.equal(lines, [
      '1  id 101  2024-01-01T00:01:41.000000+00:00  60.17000000,24.94000000  "Grüße 101"',
      '2  id 102  2024-01-01T00:01:42.000000+00:00  60.17000000,24.94000000  "Grüße 102"',
      '4  id 104  2024-01-01T00:01:44.000000+00:00  60.17000000,24.94000000  "Grüße 104"',
      '5  id 120, posted as 103  2024-01-01T00:01:43.000000+00:00  60.17000000,24.94000000  "Grüße 103"',
      `${file}: 4 posts of sequences up to 5, of the journal ${name}`,
    ]);
    const [output, said] = await exported(file);
    assert.equal(output.trimEnd().split('\n').map(readPostLine), posts);
    assert.is(
      said,
      `standard output: 4 posts; a snapshot that has them: pack --journal-through ${name}:5`,
    );
  }
  const [output] = await exported(path, 4);
  const { sequence, key, user, moved_from: from } = JSON.parse(output);
  assert.equal([sequence, key, user, from], [5, 'c', undefined, 103]);
  const [, second] = (await exported(path))[0].split('\n');
  assert.equal([JSON.parse(second!).key, JSON.parse(second!).user], ['a b', 7]);
  const file = join(folder, 'out.ndjson');
  await exportJournal(path, file, { after: behind(4), stdout: new PassThrough(), print: () => {} });
  assert.is(readFileSync(file, 'utf8'), output);
});

test('posts behind a sequence are told only where all of them are kept', async () => {
  const { path, folder, journal } = await filled();
  await journal.close();
  const output = join(folder, 'out.ndjson');
  for (const [after, why] of [
    // sequence 3 is gone: the post has moved
    [2, 'All posts are kept behind 3 only, and those behind 2 were asked for.'],
    [6, 'The last post is 5: 6 is of another journal.'],
  ] as const) {
    const asked = exportJournal(path, output, { after: behind(after), print: () => {} });
    assert.is(await refusal(asked), `${path}: ${why} Leave --after out for all posts.`);
    assert.not.ok(existsSync(output));
  }
  const other = exportJournal(path, output, { after: behind(5, '0'.repeat(16)), print: () => {} });
  const names = /it is the journal [0-9a-f]{16}, and --after names 0{16}\. Leave --after out/;
  assert.match(await refusal(other), names);
  assert.not.ok(existsSync(output));
  for (const [after, sequences] of [
    [0, [1, 2, 4, 5]],
    [3, [4, 5]],
    [5, []],
  ] as const) {
    const { posts } = await readPosts(path, after);
    assert.equal(pluck(posts, 'sequence'), sequences);
  }
});

test('an answer of another program, or whose headers a proxy took away, is no journal', async () => {
  const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  assert.match(await refusal(listed(address)), /: the answer has no header Waypost-Journal: it is/);
  server.close();
});

test('what is no journal is neither read nor written to', async () => {
  const { path } = makeJournal();
  assert.match(await refusal(listed(path)), 'there is no journal');
  assert.is(await refusal(listed('http://host:99999')), 'http://host:99999: is no address');
  assert.not.ok(existsSync(path));
  const snapshot = join(ROOT, 'test/fixtures/native/one.waypost');
  for (const bytes of [readFileSync(snapshot), Buffer.from('SQLite format 3\0 but not quite')]) {
    writeFileSync(path, bytes);
    assert.match(await refusal(listed(path)), /no journal of accepted points|damaged/);
    assert.match(await refusal(exported(path)), /no journal of accepted points|damaged/);
    assert.equal(readFileSync(path), bytes);
  }
});

test('no command writes over a journal', async () => {
  const { path, folder, journal } = await filled();
  await journal.close();
  const copy = join(folder, 'copy.journal');
  copyFileSync(path, copy);
  const sample = join(ROOT, 'test/fixtures/native/one.waypost');
  for (const args of [
    ['journal', 'export', copy, path],
    ['pack', sample, path],
    ['compact', sample, copy, path],
    ['export', sample, path, '--format', 'ndjson'],
  ]) {
    const { stderr } = await runInThread(args);
    assert.match(stderr, 'cannot be written: it is a SQLite database', args.join(' '));
  }
  assert.equal(readFileSync(path), readFileSync(copy));
});

test('the command line hands on what it is given', async () => {
  const { path, journal } = await filled();
  await journal.close();
  const run = async (...args: string[]): Promise<string[]> => {
    const { stdout, stderr } = await runInThread(args);
    return [stdout, stderr];
  };
  const [output, said] = await run('journal', 'export', path, '--after', '4');
  assert.is(JSON.parse(output!).id, 120);
  assert.match(said!, '1 post;');
  assert.match((await run('journal', 'list', path))[0]!, '4 posts of sequences up to 5');
  const sample = join(ROOT, 'test/fixtures/native/one.waypost');
  const compacted = `${path}.waypost`;
  assert.match((await run('compact', sample, path, compacted))[0]!, '4 posts of');
  assert.ok(existsSync(compacted));
  const [, refused] = await run('pack', sample, compacted, '--journal-through', '1234');
  assert.match(refused!, "Expected a journal's name and a sequence");
});

const posted = (id: number): Point => point(JSON.parse(newPost(id).record));

interface Case {
  /** What the snapshot has besides points 1 and 30. */
  readonly more: readonly Point[];
  /** Sequence of a watermark of this journal, or `other` for one of another journal. */
  readonly watermark?: number | 'other';
  readonly moved?: boolean;
  /** Ids of the new snapshot, and what is printed about it. */
  readonly ids: readonly number[];
  readonly said?: string;
}

const ALL = [1, 11, 13, 14, 15, 16, 30];
const CASES: Readonly<Record<string, Case>> = {
  'a snapshot and what waits in a journal become one': {
    more: [],
    ids: ALL,
    said:
      '5 posts of .*points\\.journal added, 0 posts already there; sequences up to 6\n' +
      'posts up to 2 may be gone from the journal, .* must have them, and does not say so$',
  },
  // posts 1 and 3 are covered by the watermark, and the snapshot has 5
  'posts that the snapshot has are not doubled, by id and time or by its watermark': {
    more: [posted(15)],
    watermark: 3,
    ids: [1, 14, 15, 16, 30],
    said: '2 posts of .*, 3 posts already there; sequences up to 6$',
  },
  'a post whose id the snapshot uses for another record gets a new one': {
    more: [point({ id: 13, comment: 'another' })],
    ids: [...ALL, 31],
    said: 'post 3 has id 31: the snapshot uses 13 for another record\n',
  },
  'a post that has moved is found under the id that was acknowledged': {
    more: [posted(13)],
    moved: true,
    ids: ALL,
  },
  'the watermark of another journal keeps no post out': {
    more: [point({ id: 13 })],
    watermark: 'other',
    ids: [...ALL, 31],
  },
};

for (const [name, { more, watermark, moved, ids, said = '' }] of Object.entries(CASES)) {
  test(name, async () => {
    const { path, open, folder } = makeJournal();
    const journal = await open();
    const mark =
      typeof watermark === 'number'
        ? { journal: journal.state.name, sequence: watermark }
        : watermark && { journal: 'fedcba9876543210', sequence: 3 };
    const [snapshot, output] = [join(folder, 'in.waypost'), join(folder, 'out.waypost')];
    const block = blockOf([point({ id: 1 }), point({ id: 30 }), ...more]);
    writeNative(snapshot, [block], [notification(1)], mark);
    for (let id = 11; id <= 16; id++) await journal.append(newPost(id));
    await journal.prune([2]);
    if (moved) await journal.move([moveOf(3, 13, 20)]);
    await journal.close();
    const lines: string[] = [];
    await packSnapshot(snapshot, output, { journal: path, print: (line) => lines.push(line) });
    assert.match(lines.join('\n'), new RegExp(said));
    const [blocks, report] = await readOnePass(output);
    assert.equal(ascending(blocks.flatMap(({ id }) => [...id])), ids);
    const through = moved ? 7 : 6;
    assert.equal([report.watermark?.sequence, report.notifications.length], [through, 1]);
    // its time is that of the newest post
    assert.is(report.createdAt, newPost(16).createdAt / 1000);
    assert.ok(report.createdAt > CREATED_AT);
    // a damaged journal is refused
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('Grüße 14')]! ^= 1;
    writeFileSync(path, bytes);
    const again = packSnapshot(snapshot, output, { journal: path, print: () => {} });
    assert.match(await refusal(again), 'the CRC of post 4');
  });
}

test.run();
