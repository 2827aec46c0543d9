import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bodyOf, exchange } from '../support/client.js';
import { FIXTURE_POINTS, startService } from '../support/service.js';

const REQUEST_MS = 800;
const UPLOAD_MS = 3_000;
const service = await startService([
  ...['--snapshot', FIXTURE_POINTS, '--max-loop-delay', '0'],
  ...['--request-timeout', `${REQUEST_MS}ms`, '--upload-timeout', `${UPLOAD_MS}ms`],
]);
test.after(() => service.stop());

/** Sends the head of a request and nothing of its body; what came back, and after how long. */
async function stall(head: string): Promise<[last: string, took: number]> {
  const began = performance.now();
  const answer = await exchange(service.port, `${head}\r\nHost: x\r\n\r\n`);
  const last = answer.slice(answer.lastIndexOf('HTTP/1.1'));
  return [last, performance.now() - began];
}

test('a body has the time of a request, and a form that may hold an image has its own', async () => {
  const post = 'POST /rest/map_data_points/ HTTP/1.1\r\nContent-Length: 10\r\nContent-Type:';
  const [plain, chunked, form] = await Promise.all([
    stall(`${post} application/json`),
    stall('GET /rest/ HTTP/1.1\r\nTransfer-Encoding: chunked'),
    stall(`${post} multipart/form-data; boundary=X`),
  ]);
  for (const [last, took] of [plain, chunked, form]) {
    assert.match(last, /^HTTP\/1\.1 408 /);
    assert.is(bodyOf(last), '{"detail":"The request took too long to arrive."}');
    assert.ok(took >= REQUEST_MS, `${took} ms`);
  }
  assert.ok(form[1] >= UPLOAD_MS, `${form[1]} ms`);
  for (const [, took] of [plain, chunked]) assert.ok(took < UPLOAD_MS, `${took} ms`);
});

test.run();
