import { test } from 'uvu';
import { fuzzQueries } from '../support/fuzzing.js';

// test/soak/fuzz.soak.ts sends five times as many
test('20,000 hostile queries: each is answered, none with 5xx, and memory does not grow', () =>
  fuzzQueries(20_000));

test.run();
