import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import { endUnderLoad } from '../support/ending.js';
import { markedLines } from '../support/marked.js';
import { makeFolder } from '../support/reloading.js';

const ROUNDS = 3;
const path = join(makeFolder(), 'points');
writeFileSync(path, markedLines(1));

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  for (const workers of ['1', '2']) {
    test(`${ROUNDS} times ${signal} under load, ${workers} workers: all that was accepted is answered`, async () => {
      for (let round = 0; round < ROUNDS; round++) await endUnderLoad(signal, path, workers);
    });
  }
}

test.run();
