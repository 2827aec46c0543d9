import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { matchesEtag } from '../../../src/http/answer/validators.js';

test('the same tag, weak or strong on either side', () => {
  assert.ok(matchesEtag('"a1"', '"a1"'));
  assert.ok(matchesEtag('W/"a1"', '"a1"'));
  assert.ok(matchesEtag('"a1"', 'W/"a1"'));
  assert.ok(matchesEtag('W/"a1"', 'W/"a1"'));
  assert.ok(matchesEtag('  "a1"\t', '"a1"'));
});

test('lists', () => {
  assert.ok(matchesEtag('"x", "a1"', '"a1"'));
  assert.ok(matchesEtag('"x","y" ,\tW/"a1" , "z"', '"a1"'));
  assert.ok(matchesEtag(', ,"a1",', '"a1"'));
  assert.ok(matchesEtag('"x,y", "a1"', '"a1"'));
  assert.not(matchesEtag('"x", "y"', '"a1"'));
});

test('* matches any, alone only', () => {
  assert.ok(matchesEtag('*', '"a1"'));
  assert.ok(matchesEtag(' * ', '"a1"'));
  assert.not(matchesEtag('"*"', '"a1"'));
  assert.not(matchesEtag('*, "x"', '"a1"'));
});

test('part of a tag, another case or no quotes do not match', () => {
  for (const header of ['', '""', '"a"', '"a11"', '"A1"', 'a1', '"a1', 'a1"', '"x a1"', 'w/"a1"']) {
    assert.not(matchesEtag(header, '"a1"'), header);
  }
});

test('what stands between two tags is no tag', () => {
  assert.not(matchesEtag('"x", "y"', '", "'));
  assert.not(matchesEtag('"x""a1"', '"a1"'));
});

test('a malformed member ends the list', () => {
  assert.ok(matchesEtag('"a1", broken', '"a1"'));
  assert.not(matchesEtag('broken, "a1"', '"a1"'));
});

test('one answer leaves no trace in the next', () => {
  for (let i = 0; i < 3; i++) {
    assert.ok(matchesEtag('"a1", "b2"', 'W/"a1"'));
    assert.ok(matchesEtag('"b2"', 'W/"b2"'));
    assert.not(matchesEtag('"c"', '"a1"'));
  }
});

test.run();
