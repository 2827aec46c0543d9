import { test } from 'uvu';
import { killWriters } from '../../support/journal-kills.js';

test('what a killed process had acknowledged is there, and nothing twice', () => killWriters(1, 4));

test.run();
