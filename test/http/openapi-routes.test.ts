import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildDataset } from '../../src/index/build-dataset.js';
import { createGeneration } from '../../src/reload/generation.js';
import { startApp } from '../support/app.js';
import { ask } from '../support/client.js';
import { readerOf } from '../support/engine.js';
import { scatterNotes } from '../support/notes.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const METHODS = ['get', 'head', 'options', 'post'];
const dataset = await buildDataset(readerOf(scatterNotes(15, 10)));
const generation = createGeneration({ dataset, extra: [], digest: 'few', loadedAt: 0 });

/** Routes that are no part of the interface, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  '/': 'leads to /rest/',
  '/docs': 'leads to /docs/',
  '/docs/': 'shows the document to people',
  '/static/:version/:file': 'styles and scripts of the pages',
};

test('the document describes every route, or there is a reason that it does not', async () => {
  const app = await startApp({ generation }, 0, 'all');
  const { paths } = (await ask(app.port, '/openapi.json')).json<Document>();
  const described = (path: string): string[] =>
    METHODS.filter((method) => paths[path]?.[method] !== undefined);
  const left = new Set(Object.keys(LEFT_OUT));
  for (const [path, methods] of app.routes) {
    // one without its slash leads to the one with it
    if (left.delete(path) || app.routes.has(`${path}/`)) continue;
    const known = described(path.replaceAll(/:(\w+)/g, '{$1}'));
    // where all methods have a route, those that are not described are refused
    const answered = METHODS.filter((method) => methods.has(method.toUpperCase()));
    const own = methods.size > METHODS.length ? known : answered;
    assert.ok(known.length > 0, path);
    assert.equal(known, own, path);
  }
  assert.equal([...left], [], 'what is left out is there');
  assert.ok(app.routes.size > Object.keys(LEFT_OUT).length + 10);
});

test('what an instance does not answer is not described', async () => {
  const app = await startApp({ generation });
  const reply = await ask(app.port, '/openapi.json');
  const { paths } = reply.json<Document>();
  assert.not.ok('post' in paths['/rest/map_data_points/']!);
  assert.not.ok(Object.keys(paths).some((path) => /^\/(?:media|health|admin)\//.test(path)));
  const etag = reply.headers.etag!;
  const again = await ask(app.port, '/openapi.json', { headers: { 'If-None-Match': etag } });
  assert.is(again.status, 304);
});

test.run();
