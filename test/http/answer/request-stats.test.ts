import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LATENCY_BOUNDS, RequestStats } from '../../../src/http/answer/context.js';

test('a latency counts in the first bucket whose bound it does not exceed', () => {
  for (const [index, bound] of LATENCY_BOUNDS.entries()) {
    const stats = new RequestStats();
    const observe = stats.route('points');
    observe(200, 'json', bound);
    observe(200, 'json', bound * 1.001);
    const buckets = Array.from(stats.latencies.get('points')!.buckets);
    assert.is(buckets[index], 1, `exactly ${bound} s`);
    assert.is(buckets[index + 1], 1, `more than ${bound} s`);
  }
});

test('a latency above the last bound has a bucket, too', () => {
  const stats = new RequestStats();
  stats.route('points')(200, 'json', 3_600);
  const { buckets, seconds } = stats.latencies.get('points')!;
  assert.is(buckets.length, LATENCY_BOUNDS.length + 1);
  assert.is(buckets[LATENCY_BOUNDS.length], 1);
  assert.is(seconds, 3_600);
});

test('requests are counted by status and representation', () => {
  const stats = new RequestStats();
  const observe = stats.route('points');
  for (const representation of ['json', 'html', 'json'] as const) observe(200, representation, 0);
  observe(304, 'json', 0);
  assert.equal(
    stats.counts.map(({ status, representation, count }) => [status, representation, count]),
    [
      [200, 'json', 2],
      [200, 'html', 1],
      [304, 'json', 1],
    ],
  );
});

test.run();
