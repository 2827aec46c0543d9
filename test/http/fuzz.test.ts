import { test } from 'uvu';
import { fuzzQueries } from '../support/fuzzing.js';

// test/soak/fuzz.soak.ts sends twenty times as many
test('5,000 hostile queries: each is answered, none with 5xx, and memory does not grow', () =>
  fuzzQueries(5_000));

test.run();
