import type { IncomingMessage } from 'node:http';
import {
  clientOf,
  createThrottle,
  createThrottleMemory,
  networkOf,
} from '../../../src/http/request/client.js';
import type { HttpError } from '../../../src/http/request/http-error.js';
import { assert, table, test } from '../../support/uvu.js';

/** A throttle with a clock that tests set. */
function start(perMinute: number, time = 0) {
  const memory = createThrottleMemory();
  memory[0] = 12_345;
  const clock = { time };
  const throttle = createThrottle(memory, perMinute, () => clock.time);
  /** How many of `count` posts are let through, and the `Retry-After` of the next one. */
  const take = (client: string, count: number): [taken: number, wait: string | undefined] => {
    for (let i = 0; i < count; i++) {
      try {
        throttle(client);
      } catch (error) {
        const { status, headers, body } = error as HttpError;
        assert.is(status, 429);
        const wait = headers['Retry-After']!;
        const detail = `Request was throttled. Expected available in ${wait} seconds.`;
        assert.equal(body, { detail });
        return [i, wait];
      }
    }
    return [count, undefined];
  };
  return { clock, take };
}

// also after years
for (const since of [0, 2 ** 31 - 30_000, 5e11]) {
  test(`whoever was quiet has all of a minute at once, and gets it back evenly, since ${since}`, () => {
    const { clock, take } = start(30, since);
    assert.equal(take('a', 40), [30, '2']);
    clock.time += 1_000;
    assert.equal(take('a', 1), [0, '1']);
    clock.time += 1_000;
    assert.equal(take('a', 2), [1, '2']);
    clock.time += 20_000;
    assert.equal(take('a', 40), [10, '2']);
    clock.time += 3_600_000;
    assert.equal(take('a', 40), [30, '2']);
  });
}

test('clients are limited separately, and 0 limits nobody', () => {
  const { take } = start(2);
  let hindered = 0;
  for (let i = 0; i < 5_000; i++) hindered += 2 - take(`10.0.${i >> 8}.${i & 255}`, 2)[0];
  assert.ok(hindered < 25, `${hindered} of 10,000 share both of their slots with others`);
  assert.is(take('10.0.0.7', 1)[0], 0);
  assert.equal(start(0).take('a', 100_000)[0], 100_000);
});

test('a client is an IPv4 address, or a network of 64 bits', () => {
  const cases = table(`
    192.0.2.1 192.0.2.1 | ::ffff:192.0.2.1 192.0.2.1 | 2001:db8:1:2:3:4:5:6 2001:db8:1:2
    2001:db8:1:2::6 2001:db8:1:2 | 2001:db8::6 2001:db8:0:0 | ::1 0:0:0:0
    fe80::1%eth0 fe80:0:0:0 | 2001:DB8:0001::2:0:0:6 2001:db8:1:0 | ::ffff:c000:201 192.0.2.1
    0:0:0:0:0:FFFF:192.0.2.1 192.0.2.1 | 1:2:3:4:5:6:192.0.2.1 1:2:3:4`);
  for (const [address, client] of cases) assert.is(networkOf(address!), client, address);
  assert.is(networkOf(''), '');
});

test('a client stays the same however a proxy writes its address', () => {
  const cases: [header: string, client: string][] = [
    ['198.51.100.9, 192.0.2.1:50123', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.1'],
    ['[2001:db8:1:2::6]:50123', '2001:db8:1:2'],
    ['x, [2001:DB8:1:2::6]', '2001:db8:1:2'],
    ['[::ffff:c000:201]:50123', '192.0.2.1'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    // not addresses: the connection's own address counts
    ['unknown', '203.0.113.7'],
    ['192.0.2.1, ', '203.0.113.7'],
  ];
  for (const [header, client] of cases) {
    const headers = { 'x-forwarded-for': header };
    const socket = { remoteAddress: '::ffff:203.0.113.7' };
    const request = { headers, socket } as unknown as IncomingMessage;
    assert.is(clientOf(request, true), client, header);
    assert.is(clientOf(request, false), '203.0.113.7');
  }
});

test.run();
