import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Reply } from '../support/client.js';
import { createDocumentCheck, type Piece } from '../support/openapi.js';
import { startOwnService } from '../support/own-service.js';
import { differencesOf, recordedCases, recordedPoints } from '../support/recorded.js';
import { ROOT, SNAPSHOT } from '../support/service.js';
import { DIFFERENCES, keyOf } from './replay-differences.js';

const media = mkdtempSync(join(tmpdir(), 'waypost-media-'));
const service = await startOwnService([
  ...['--snapshot', SNAPSHOT],
  ...['--time-zone', 'Europe/Helsinki', '--media', media],
]);
const cases = recordedCases();
const points = recordedPoints();
const replies = new Map<string, Reply>();
/** `key: difference` of each case that differs. */
const found: string[] = [];

test.before(async () => {
  for (const recorded of cases) {
    const { name, method, target, headers, body } = recorded;
    const reply = await service.get(target, {
      method,
      headers: { Host: 'testserver.example', ...headers },
      ...(body === null ? {} : { body }),
    });
    const key = keyOf(name, method, target);
    assert.not.ok(replies.has(key), `two cases are called ${key}`);
    replies.set(key, reply);
    const difference = differencesOf(recorded, reply, points);
    if (difference !== '') found.push(`${key}: ${difference}`);
  }
});

test.after(async () => {
  await service.stop();
  rmSync(media, { recursive: true });
});

const listed = DIFFERENCES.map(({ key, difference }) => `${key}: ${difference}`);

test('no case is answered otherwise than recorded, but for those listed', () => {
  assert.ok(replies.size > 350);
  assert.equal(
    found.filter((one) => !listed.includes(one)),
    [],
  );
});

test('every listed case differs, and as listed', () => {
  assert.equal(
    listed.filter((one) => !found.includes(one)),
    [],
  );
  assert.is(new Set(listed).size, listed.length);
});

test('every difference has its decision in docs/decisions.md', () => {
  const text = readFileSync(join(ROOT, 'docs/decisions.md'), 'utf8');
  const anchors = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
  assert.is(new Set(anchors).size, anchors.length, 'headings differ');
  for (const { decision } of DIFFERENCES) assert.ok(anchors.includes(decision), decision);
});

test('what we refuse names the parameter at fault', () => {
  for (const { key } of DIFFERENCES) {
    const reply = replies.get(key)!;
    // what a body gets wrong has fields
    if (reply.status !== 400 || key.endsWith('| POST')) continue;
    const at = /\?(created_at_\w+|modified_at_\w+|bbox|coordinates|ordering)=/.exec(key)![1]!;
    const parameter = key.startsWith('page_size') ? 'page_size' : at;
    assert.equal(Object.keys(reply.json<object>()), [parameter], key);
  }
});

test('what we answer is as the OpenAPI document says', async () => {
  const check = createDocumentCheck((await service.get('/openapi.json')).json<Piece>());
  const checked = new Map<string, number>();
  for (const { name, method, target } of cases) {
    if (check.operation(method, target) === undefined) continue;
    const reply = replies.get(keyOf(name, method, target))!;
    assert.equal(check.problems(method, target, reply), [], `${name}: ${method} ${target}`);
    const kind = `${method} ${reply.status}`;
    checked.set(kind, (checked.get(kind) ?? 0) + 1);
  }
  assert.ok(checked.get('GET 200')! > 200);
  for (const kind of ['GET 400', 'GET 404', 'GET 406', 'HEAD 200', 'OPTIONS 200', 'POST 201']) {
    assert.ok(checked.has(kind), kind);
  }
});

/** As Markdown makes links to headings. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

test.run();
