import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Format,
  FRESH_MEMORY,
  type Page,
  SingleRecords,
} from '../../../src/http/formats/representation.js';
import { pageFormat } from '../../../src/http/pages/page-format.js';
import { PLAIN_SUBJECT, type PostingBy } from '../../../src/http/pages/site.js';
import { Budget, EXCEEDED } from '../../../src/model/budget.js';
import { PLAIN_SITE } from '../../support/app.js';
import { Meter } from '../../support/engine.js';

const exchange = {
  target: '/rest/map_data_points/?format=api',
  snapshot: 'tag',
  headers: ['Allow', 'GET', 'Content-Length', ''],
  memory: FRESH_MEMORY,
};
const list = {
  count: 1,
  links: { next: null, previous: null },
  base: '/',
  pairs: [],
  page: 1,
  pageCount: 1,
};
const HTML = pageFormat(PLAIN_SITE, PLAIN_SUBJECT, []);

function render(page: Page, format: Format = HTML, budget: Budget = new Budget()): string {
  return format.encode!(page, { ...exchange, budget }).toString();
}

function page(records: readonly string[]): Page {
  const bytes = records.map((record) => Buffer.from(record));
  return { title: 'Points', list, records: new SingleRecords(bytes) };
}

test('a page costs what its records do, and one that costs too much is not begun', () => {
  const record = JSON.stringify({ id: 1, comment: 'x'.repeat(256) });
  const large = page(Array.from({ length: 1000 }, () => record));
  const meter = new Meter(1e6);
  assert.is(render(large, HTML, meter).split('<b>"id"</b>').length, 1001);
  assert.ok(meter.cost >= 15 * 1000 * record.length, String(meter.cost));
  const budget = new Budget(1e6);
  assert.throws(
    () => render(large, HTML, budget),
    (error: unknown) => error === EXCEEDED,
  );
});

test('what is shown is the JSON of the list, and what is no JSON as it is', () => {
  const html = render(page(['{"a":1,"b":"0.10"}', '{"c":[]}']));
  const record = [{ a: 1, b: '0.10' }, { c: [] }];
  const envelope = { count: 1, next: null, previous: null, results: record };
  const json = /\n\n(\{.*)<\/pre>/s.exec(html)![1]!.replaceAll(/<[^>]*>/g, '');
  assert.is(json, JSON.stringify(envelope, null, 2));
  assert.match(render(page(['{broken'])), '\n    {broken\n  ]\n}</pre>');
  assert.match(render(page([])), '<b>"results"</b>: []\n}</pre>');
});

test('the headers are those that are known', () => {
  const html = render(page([]));
  assert.match(html, '<b>HTTP 200 OK</b>\n<b>Allow:</b> GET\n\n{');
  assert.not.match(html, 'Content-Length');
});

test('the form for a point is offered where anybody may post, and nowhere else', () => {
  const subject = { ...PLAIN_SUBJECT, isPoints: true };
  const pageOf = (posting: PostingBy): string => {
    const format = pageFormat({ ...PLAIN_SITE, posting, prefix: '/x' }, subject, []);
    return render(page([]), format);
  };
  assert.match(pageOf('anybody'), '<form method="post" action="/x/rest/map_data_points/"');
  assert.match(pageOf('holders'), 'Authorization: Token');
  assert.match(pageOf('nobody'), 'only reads');
  for (const posting of ['holders', 'nobody'] as const) {
    assert.not.match(pageOf(posting), '<form method="post"');
  }
});

test.run();
