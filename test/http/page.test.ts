import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownText } from '../support/documents.js';
import { makeFolder } from '../support/folder.js';
import { startOwnService } from '../support/own-service.js';
import { assert, test } from '../support/uvu.js';

const HOSTILE = [
  ...['</pre><script>alert(1)</script>', '"><img src=x onerror=alert(2)>'],
  ...["' onmouseover='alert(3)", '<!-- <svg/onload=alert(4)>', '&lt;b&gt;&amp;amp;'],
  ...[']]><style>*{}</style>', '\u2028</title><base href=//evil.example>'],
];

const folder = makeFolder();
const tokens = join(folder, 'tokens.json');
const snapshot = join(folder, 'points.ndjson');
const notifications = join(folder, 'notifications.json');
const created_at = '2024-03-01T12:00:00+02:00';
const place = { lat: '60.17', lon: '24.95' };
const points = HOSTILE.map((comment, i) => {
  return { id: i + 1, ...place, created_at, comment, tags: [comment], status: comment };
});
writeFileSync(tokens, '{"key": 5}');
writeFileSync(snapshot, points.map((point) => `${JSON.stringify(point)}\n`).join(''));
writeFileSync(
  notifications,
  JSON.stringify(
    HOSTILE.map((comment, i) => {
      const id = i + 1;
      return { id, user: 5, comment: { id, user: 3, created_at, comment, map_data_point: id } };
    }),
  ),
);
const service = await startOwnService([
  ...['--snapshot', snapshot],
  ...['--notifications', notifications],
  ...['--tokens', tokens],
]);

const PATHS = ['/rest/map_data_points/', '/rest/notifications/', '/rest/'];
const authorization = 'Token key';

/** The start tags of a page, without what stands between them and without its own scripts. */
function tagsOf(html: string): string[] {
  const own = /<script type="module" src="\/static\/[\w./-]+"><\/script>/g;
  return [...html.replaceAll(own, '').matchAll(/<[^>]*>/g)].map(([tag]) => tag.toLowerCase());
}

test('a browser gets a page, of every resource', async () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const path of [...PATHS, '/rest/map_data_points/1/']) {
    const asked = [
      await service.get(path, { headers: { accept: browser } }),
      await service.get(`${path}?format=api`),
      await service.get(`${path}?format=api`, { headers: { accept: 'application/json' } }),
    ];
    for (const { status, headers, text } of asked) {
      assert.is(status, 200, path);
      assert.is(headers['content-type'], 'text/html; charset=utf-8');
      assert.match(text, /^<!doctype html>\n<html lang="en">/);
      assert.match(headers['content-security-policy'] as string, /default-src 'none'/);
      assert.match(headers['content-security-policy'] as string, /frame-ancestors 'none'/);
      assert.is(headers['x-content-type-options'], 'nosniff');
    }
    const json = { headers: { accept: browser } };
    const { headers } = await service.get(`${path}?format=json`, json);
    assert.is(headers['content-type'], 'application/json');
  }
});

test('a page shows all that the JSON says, and none of it is markup', async () => {
  for (const path of [...PATHS, ...HOSTILE.map((_, i) => `/rest/map_data_points/${i + 1}/`)]) {
    const { text } = await service.get(`${path}?format=api`, { headers: { authorization } });
    for (const payload of HOSTILE) assert.not.ok(text.includes(payload), `${path} ${payload}`);
    for (const tag of tagsOf(text)) {
      assert.not.match(tag, /^<(?:script|img|svg|base|iframe|object|embed)\b/);
      assert.not.match(tag, /\son\w+\s*=|javascript:/);
    }
    const shown = shownText(text);
    const json = (await service.get(path, { headers: { authorization } })).json<object>();
    for (const value of textsOf(json)) {
      // the links of the page differ from those of the JSON
      if (value.startsWith('http://')) continue;
      assert.ok(shown.includes(JSON.stringify(value).slice(1, -1)), `${path} ${value}`);
    }
  }
});

test('nor is what the request says', async () => {
  for (const payload of HOSTILE.filter((one) => !one.includes('\u2028'))) {
    for (const raw of [payload.replaceAll(' ', '+'), encodeURIComponent(payload)]) {
      for (const query of [`format=api&x=${raw}`, `${raw}=&format=api`, `x[${raw}]&format=api`]) {
        for (const path of [...PATHS, '/rest/map_data_points/1/']) {
          const reply = await service.get(`${path}?page_size=1&${query}`, {
            headers: { 'X-Request-Id': 'a"><b>', Referer: payload, 'User-Agent': payload },
          });
          assert.is(reply.status, 200, query);
          const known = tagsOf((await service.get(`${path}?page_size=1&format=api`)).text);
          // parameters that the form does not know are in hidden fields
          const names = (tags: string[]): string[] =>
            tags
              .filter((tag) => !/^<input type="hidden" name="[^"]*" value="[^"]*">$/.test(tag))
              .map((tag) => tag.split(/[\s>]/, 1)[0]!);
          assert.equal(names(tagsOf(reply.text)), names(known), query);
          assert.not.match(reply.text, /\s[\w-]+="[^"]*[<>][^"]*"/);
        }
      }
    }
  }
});

/** Every text in a JSON value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

test.run();
