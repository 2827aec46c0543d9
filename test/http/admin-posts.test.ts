import { join } from 'node:path';
import { readPosts } from '../../src/cli/journal-posts.js';
import { Store } from '../../src/posts/store.js';
import { counted } from '../../src/serving/progress.js';
import { startNotes } from '../support/app.js';
import { jsonPost, LIST, postKeyed } from '../support/client.js';
import { newPost } from '../support/journals.js';
import { FIRST_NOTE } from '../support/kept-posts.js';
import { readOnePass } from '../support/native.js';
import { startOwnService } from '../support/own-service.js';
import { runInThread } from '../support/service.js';
import { assert, makeFile, makeFolder, refusal, test } from '../support/uvu.js';

const PATH = '/admin/posts';
const ADMIN = { headers: { Authorization: 'Bearer secret' } };
/** More than a batch of reading. */
const POSTS = 4_150;
const folder = makeFolder();
const path = join(folder, 'notes.journal');
const snapshot = makeFile(FIRST_NOTE, 'points.ndjson');
const store = new Store(path);
store.append(Array.from({ length: POSTS }, (_, i) => newPost(1e6 + i)));
const { name } = store.state;
store.close();
const flags = ['--snapshot', snapshot, '--journal', path, '--admin-token', 'secret'];
const service = await startOwnService(flags);

test('posts after a sequence come as NDJSON, to admins only', async () => {
  const all = await service.get(`${PATH}?after=0`, ADMIN);
  const told = ['content-type', 'waypost-journal', 'waypost-sequence'].map(
    (one) => all.headers[one],
  );
  assert.equal(told, ['application/x-ndjson', name, `${POSTS}`]);
  const lines = all.text.trimEnd().split('\n');
  const sequences = lines.map((line) => JSON.parse(line).sequence);
  assert.equal(sequences, [...Array(POSTS + 1).keys()].slice(1));
  assert.is((await service.get(`${PATH}?after=${POSTS - 1}`, ADMIN)).text.trimEnd(), lines.at(-1));
  assert.is((await service.get(`${PATH}?after=${POSTS}`, ADMIN)).text, '');
  const head = await service.get(PATH, { ...ADMIN, method: 'HEAD' });
  assert.equal([head.status, head.headers['waypost-journal'], head.text], [200, name, '']);
  const wrong = { headers: { Authorization: 'Bearer another' } };
  for (const asked of [{}, wrong]) assert.is((await service.get(PATH, asked)).status, 401);
  for (const after of ['x', '-1', '1.5', '1'.repeat(16)]) {
    const { status, text } = await service.get(`${PATH}?after=${after}`, ADMIN);
    assert.equal([status, Object.keys(JSON.parse(text))], [400, ['after']], after);
  }
});

test('without a journal there is no such address', async () => {
  const none = await startNotes([], { audience: 'all', adminToken: 'secret' });
  assert.is((await none.get(PATH, ADMIN)).status, 404);
});

test('compact, list and export accept the address of a running service', async () => {
  const base = `http://127.0.0.1:${service.port}`;
  const token = { WAYPOST_ADMIN_TOKEN: 'secret' };
  const compacted = join(folder, 'all.waypost');
  // a line for some readers of text, but none of NDJSON
  const separated = jsonPost({ lat: '10', lon: '20', comment: 'a\u2028b' });
  assert.is((await service.get(LIST, separated)).status, 201);
  for (const key of ['b', 'c']) assert.is((await postKeyed(service, key)).status, 201);
  const refused = await runInThread(['compact', snapshot, base, compacted]);
  assert.is(refused.code, 1);
  assert.match(refused.stderr, /answers 401: put an admin's token into WAYPOST_ADMIN_TOKEN/);
  const beyond = await refusal(readPosts(base, 10 * POSTS, 'secret'));
  assert.match(beyond, /answers 410: The last post is 4153: 41500 is of another journal\. Begin/);
  const done = await runInThread(['compact', snapshot, base, compacted], token);
  assert.is(done.code, 0, done.stderr);
  const [blocks, report] = await readOnePass(compacted);
  assert.equal(report.watermark, { journal: name, sequence: POSTS + 3 });
  const points = blocks.reduce((sum, { count }) => sum + count, 0);
  assert.is(points, 1 + POSTS + 3);
  const { stdout } = await runInThread(['journal', 'list', base], token);
  const all = `${counted(POSTS + 3, 'post')} of sequences up to ${POSTS + 3}`;
  assert.match(stdout, new RegExp(`"a.*"\\n.*"b"\\n.*"c"\\n.*: ${all}`, 's'));
  const last = ['--after', String(POSTS + 2)];
  const out = await runInThread(['journal', 'export', base, '-', ...last], token);
  assert.is(JSON.parse(out.stdout).sequence, POSTS + 3);
  await service.stop();
  assert.match(await refusal(readPosts(base)), /ECONNREFUSED/);
});

test.run();
