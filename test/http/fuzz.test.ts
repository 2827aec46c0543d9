import { test } from 'uvu';
import { fuzzQueries } from '../support/fuzzing.js';

// test/soak/fuzz.soak.ts sends ten times as many
test('10,000 hostile queries: each is answered, none with 5xx, and memory does not grow', () =>
  fuzzQueries(10_000));

test.run();
