import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answerKey, Joins } from '../../../src/http/answer/answer-cache.js';

const [one, other] = [1, 2].map((low) => {
  return answerKey({ low, high: 0 }, 'a', '/', undefined, undefined);
});

test('who asks for what is being made is called when it is kept, or its response has ended', () => {
  const joins = new Joins();
  const called: string[] = [];
  const join = (key = one!, name = 'a'): boolean => joins.join(key, () => called.push(name));
  const response = new EventEmitter() as ServerResponse;
  assert.not(join());
  const onKept = joins.lead(one!, response);
  assert.ok(join(one, 'b'));
  assert.not(join(other));
  onKept();
  assert.equal(called, ['b']);
  assert.not(join());
  // the next one is made for the response of another request
  joins.lead(one!, new EventEmitter() as ServerResponse);
  response.emit('close');
  assert.ok(join());
  const last = new EventEmitter() as ServerResponse;
  joins.lead(other!, last);
  assert.ok(join(other, 'c'));
  last.emit('close');
  assert.equal(called, ['b', 'c']);
});

test.run();
