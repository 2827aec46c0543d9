import { test } from 'uvu';
import { fuzzQueries } from '../support/fuzzing.js';

test('100,000 hostile queries: each is answered, none with 5xx, and memory does not grow', () =>
  fuzzQueries(100_000));

test.run();
