import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { userOf } from '../../../src/http/request/client.js';
import { HttpError } from '../../../src/http/request/http-error.js';
import type { Tokens } from '../../../src/posts/tokens/file.js';
import { readTokenFile, tableOf } from '../../../src/posts/tokens/file.js';
import { makeFolder } from '../../support/folder.js';

const folder = makeFolder();
const path = join(folder, 'tokens.json');

function tokensOf(content: object): Tokens {
  writeFileSync(path, JSON.stringify(content));
  return { table: tableOf(readTokenFile(path).entries) };
}

test('a token names its user, and 0 is a user like any other', () => {
  const tokens = tokensOf({ zero: 0, one: 1, large: Number.MAX_SAFE_INTEGER });
  assert.is(userOf('Token zero', tokens), 0);
  assert.is(userOf('bearer  one', tokens), 1);
  assert.is(userOf('Bearer large', tokens), Number.MAX_SAFE_INTEGER);
  assert.is(userOf(undefined, tokens), undefined);
});

test('whoever asks by another scheme is anonymous', () => {
  const tokens = tokensOf({ zero: 0 });
  for (const other of ['', ' ', 'zero', 'Basic zero', 'Digest a b c', 'Tokens zero', 'Negotiate']) {
    assert.is(userOf(other, tokens), undefined, other);
  }
});

test('a token that no user of the file has, and what is no token, are refused with 401', () => {
  const tokens = tokensOf({ zero: 0 });
  const header = 'Invalid token header.';
  for (const [authorization, detail] of [
    ['Token other', 'Invalid token.'],
    ['Token', `${header} No credentials provided.`],
    ['bearer ', `${header} No credentials provided.`],
    ['Token zero x', `${header} Token string should not contain spaces.`],
  ] as const) {
    try {
      userOf(authorization, tokens);
      assert.unreachable(authorization);
    } catch (error) {
      assert.instance(error, HttpError);
      const { status, body, headers } = error as HttpError;
      assert.equal([status, body], [401, { detail }]);
      const scheme = authorization === 'bearer ' ? 'Bearer' : 'Token';
      assert.equal(headers, { 'WWW-Authenticate': scheme });
    }
  }
});

test('a user is a whole number from 0', () => {
  for (const user of [-1, 1.5, '1', null, true]) {
    assert.throws(() => tokensOf({ key: user }), /must be a whole number/, String(user));
  }
});

test.run();
