import { test } from 'uvu';
import { fuzzPosts } from '../support/post-fuzzing.js';

test('200 hostile posts: each is answered, none with 5xx, and nothing is left but what was accepted', () =>
  fuzzPosts(200));

test.run();
