import * as fc from 'fast-check';
import { hostAllowed, isAuthority, isHostPattern } from '../../src/model/authority.js';
import { CHARACTER, forAll } from '../support/properties.js';
import { assert, test } from '../support/uvu.js';

test('names, addresses and ports are told from what is no authority', () => {
  const good = [
    ...['localhost', 'testserver.example', 'EXAMPLE.org:8080', 'example.org.', 'a-b.c_d.e'],
    ...['127.0.0.1', '127.0.0.1:0', 'xn--nkyvyys-5wa.example', 'x:65535', '1', '_svc'],
    ...['[::1]', '[::1]:8080', '[2001:db8::ff00:42:8329]', '[::ffff:127.0.0.1]', '[FE80::1]'],
  ];
  for (const host of good) assert.ok(isAuthority(host), host);
  const bad = [
    ...['', ' ', '.', 'a..b', '.a', 'a:', 'a:b', ':80', 'a:80:80', 'a:65536', 'a:123456'],
    ...['a b', ' a', 'a ', 'a\n', 'a\tb', 'a"b', "a'b", 'a\\b', 'a/b', 'a?b', 'a#b', 'a@b'],
    ...['user@host', 'user:pw@host', 'a,b', 'a;b', '<a>', 'a%20b', 'a%41', 'ä.example', 'a\0'],
    ...['::1', '[]', '[::1', '::1]', '[::1]x', '[1.2.3.4]', '[:::]', '[fe80::1%eth0]', '[g::]'],
    ...['[::1]:', '[::1]:99999', '[1:2:3:4:5:6:7:8:9]', '[v1.x]', '[[::1]]'],
  ];
  for (const host of bad) assert.not(isAuthority(host), JSON.stringify(host));
});

test('the length of an authority is bounded', () => {
  const label = 'a'.repeat(63);
  assert.ok(isAuthority(label));
  assert.not(isAuthority(`${label}a`));
  const longest = `${label}.${label}.${label}.${'a'.repeat(61)}`;
  assert.is(longest.length, 253);
  assert.ok(isAuthority(`${longest}.:65535`));
  assert.not(isAuthority(`${longest}aa.:65535`));
  assert.not(isAuthority('a.'.repeat(5000)));
});

test('what is accepted can stand in a URL and in markup as it is', () => {
  const char = fc.oneof(fc.constantFrom(...'aZ09.-_:[]@/\\"\'<>&%? \t\n#é'), CHARACTER);
  forAll(20_000, [fc.string({ unit: char, maxLength: 12 })], (host) => {
    if (!isAuthority(host)) return;
    assert.match(host, /^[A-Za-z0-9._[\]:-]+$/);
  });
});

test('hosts are allowed by exact name, with a leading dot all below it, by * any', () => {
  const exact = ['Example.org', '[::1]', 'other.example:8080'];
  const cases: [list: string[], allowed: string[], refused: string[]][] = [
    // whatever the port and the case
    [
      exact,
      ['example.org', 'EXAMPLE.ORG:80', 'example.org.', 'example.org.:80', '[::1]:8080'],
      ['www.example.org', 'badexample.org', 'example.org.evil', '[::2]', 'org'],
    ],
    [exact, ['other.example'], []],
    [[], [], ['example.org']],
    [
      ['.Example.org'],
      ['example.org', 'www.example.org', 'a.b.EXAMPLE.org:8080', 'www.example.org.'],
      ['badexample.org', 'example.org.evil', 'org'],
    ],
    [['a', '*'], ['example.org'], []],
    [['*'], ['[::1]:80'], []],
  ];
  for (const [list, allowed, refused] of cases) {
    for (const host of allowed) assert.ok(hostAllowed(host, list), host);
    for (const host of refused) assert.not(hostAllowed(host, list), host);
  }
  for (const entry of ['*', 'a', '.example.org', '[::1]']) assert.ok(isHostPattern(entry));
  for (const entry of ['', '.', '*.a', '..a', '::1', 'http://a', 'a b', 'a:80', '[::1]:80']) {
    assert.not(isHostPattern(entry), entry);
  }
});

test.run();
