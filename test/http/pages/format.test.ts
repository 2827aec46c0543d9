import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Dataset } from '../../../src/dataset/dataset.js';
import { createPageCopier } from '../../../src/dataset/record-page.js';
import { allocateRecords, putRecords } from '../../../src/dataset/records.js';
import {
  type Format,
  FRESH_MEMORY,
  type Page,
  type Pieces,
} from '../../../src/http/formats/format.js';
import { PointRecords, SingleRecords } from '../../../src/http/formats/records.js';
import { pageFormat } from '../../../src/http/pages/format.js';
import type { PostingBy } from '../../../src/http/pages/site.js';
import { PLAIN_SITE, PLAIN_SUBJECT } from '../../support/pages.js';

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

/** The pieces of work that a page takes, and what came of them. */
function render(
  page: Page,
  between: () => void = () => {},
  format: Format = HTML,
): [pieces: number, html: string] {
  const work = format.encode(page, exchange) as Pieces<Buffer<ArrayBuffer>>;
  for (let pieces = 1; ; pieces++) {
    between();
    const { done, value } = work.next();
    if (done === true) return [pieces, value.toString()];
  }
}

function page(records: readonly string[]): Page {
  const bytes = records.map((record) => Buffer.from(record));
  return { title: 'Points', list, records: new SingleRecords(bytes) };
}

test('a page takes one piece, a large one several, of 32 KiB each', () => {
  const record = JSON.stringify({ id: 1, comment: 'x'.repeat(256) });
  assert.is(render(page(Array.from({ length: 100 }, () => record)))[0], 1);
  const [pieces, html] = render(page(Array.from({ length: 1000 }, () => record)));
  assert.is(pieces, 1 + Math.floor((1000 * record.length) / 32_768));
  assert.is(html.split('<b>"id"</b>').length, 1001);
});

test('what is shown is the JSON of the list, and what is no JSON as it is', () => {
  const [, html] = render(page(['{"a":1,"b":"0.10"}', '{"c":[]}']));
  const record = [{ a: 1, b: '0.10' }, { c: [] }];
  const envelope = { count: 1, next: null, previous: null, results: record };
  const json = /\n\n(\{.*)<\/pre>/s.exec(html)![1]!.replaceAll(/<[^>]*>/g, '');
  assert.is(json, JSON.stringify(envelope, null, 2));
  assert.match(render(page(['{broken']))[1], '\n    {broken\n  ]\n}</pre>');
  assert.match(render(page([]))[1], '<b>"results"</b>: []\n}</pre>');
});

test('what another query does between two pieces makes no difference', () => {
  const texts = Array.from({ length: 900 }, (_, i) => `{"id":${i},"x":"${'y'.repeat(300)}"}`);
  const lengths = Uint32Array.from(texts, (text) => text.length);
  const records = allocateRecords(lengths);
  const places = Uint32Array.from(texts, (_, i) => i);
  putRecords(records, places, lengths, Buffer.from(texts.join('')), 0);
  const rows = Uint32Array.from(places);
  const point = (): PointRecords =>
    new PointRecords(
      { records, count: rows.length } as Dataset,
      { rows, length: rows.length, tail: undefined },
      createPageCopier(),
    );
  const made = (): Page => ({ title: 'Points', list, records: point() });
  const [, expected] = render(made());
  let isFirst = true;
  const [pieces, html] = render(made(), () => {
    // the rows of a page are the next query's when the work begins
    if (isFirst) rows.fill(0);
    isFirst = false;
  });
  assert.ok(pieces > 1);
  assert.is(html, expected);
});

test('the headers are those that are known', () => {
  const [, html] = render(page([]));
  assert.match(html, '<b>HTTP 200 OK</b>\n<b>Allow:</b> GET\n\n{');
  assert.not.match(html, 'Content-Length');
});

test('the form for a point is offered where anybody may post, and nowhere else', () => {
  const subject = { ...PLAIN_SUBJECT, posts: '/points/' };
  const pageOf = (posting: PostingBy): string => {
    const format = pageFormat({ ...PLAIN_SITE, posting, prefix: '/x' }, subject, []);
    return render(page([]), undefined, format)[1];
  };
  assert.match(pageOf('anybody'), '<form method="post" action="/x/points/"');
  assert.match(pageOf('holders'), 'Authorization: Token');
  assert.match(pageOf('nobody'), 'only reads');
  for (const posting of ['holders', 'nobody'] as const) {
    assert.not.match(pageOf(posting), '<form method="post"');
  }
});

test.run();
