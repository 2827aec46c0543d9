import { test } from 'uvu';
import { killWriters } from '../support/journal-kills.js';

test('what 200 killed processes had acknowledged is there, and nothing twice', () =>
  killWriters(2, 200));

test.run();
