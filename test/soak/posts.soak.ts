import { test } from 'uvu';
import { fuzzPosts } from '../support/post-fuzzing.js';

test('10,000 hostile posts: each is answered, none with 5xx, and nothing is left but what was accepted', () =>
  fuzzPosts(10_000));

test.run();
