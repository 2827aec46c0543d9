import { openTimeZone, UTC } from '../../src/model/time-zone.js';
import { formatLocal, parseTimestamp } from '../../src/model/timestamp.js';
import { createPostClock } from '../../src/posts/posts.js';
import { assert, test } from '../support/uvu.js';

test('each time is later than all before, and says the instant that it is', () => {
  const clock = createPostClock(0, UTC);
  let last = Date.now() * 1000 - 1_000_000;
  for (let i = 0; i < 5_000; i++) {
    const { micros, text } = clock.next()!;
    assert.ok(micros > last);
    last = micros;
    const read = parseTimestamp(text);
    assert.equal(read, { micros, text });
  }
  assert.ok(last < Date.now() * 1000 + 1_000_000);
});

test('a clock that was put back goes on from the last time that was given', () => {
  const future = Date.now() * 1000 + 3_600_000_000;
  const clock = createPostClock(future, UTC);
  assert.equal([clock.next()!.micros, clock.next()!.micros], [future + 1, future + 2]);
});

test('times stand on the clocks of the zone, summer and winter', async () => {
  const helsinki = await openTimeZone('Europe/Helsinki');
  const offsets: [text: string, offset: number][] = [
    ['2026-01-15T12:00:00Z', 7_200],
    ['2026-03-29T00:59:59Z', 7_200],
    ['2026-03-29T01:00:00Z', 10_800],
    ['2026-10-25T00:59:59Z', 10_800],
    ['2026-10-25T01:00:00Z', 7_200],
  ];
  for (const [text, offset] of offsets) {
    assert.is(helsinki.offsetOf(Date.parse(text) / 1000), offset, text);
  }
  const micros = Date.parse('2026-07-01T21:30:00.5Z') * 1000 + 7;
  assert.is(formatLocal(micros, 10_800), '2026-07-02T00:30:00.500007+03:00');
  assert.is(formatLocal(micros, -12_600), '2026-07-01T18:00:00.500007-03:30');
  const { text } = createPostClock(Date.parse('2100-07-01T00:00:00Z') * 1000, helsinki).next()!;
  assert.match(text, /^2100-07-01T03:00:00\.000001\+03:00$/);
});

test('there is no time beyond the year 2255, where microseconds are not exact', () => {
  const clock = createPostClock(Number.MAX_SAFE_INTEGER - 1, UTC);
  assert.is(clock.next()?.micros, Number.MAX_SAFE_INTEGER);
  assert.is(clock.next(), undefined);
  assert.is(clock.next(), undefined);
});

test.run();
