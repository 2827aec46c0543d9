import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killServices } from '../support/service-kills.js';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 60);

for (let seed = 1; seed <= 5; seed++) {
  test(`seed ${seed}: ${ROUNDS} kills lose and double nothing`, async () => {
    const done = await killServices(seed, ROUNDS, 20_000);
    console.log(`seed ${seed}: ${JSON.stringify(done)}`);
    const { kills, takenOver, pruned } = done;
    for (const what of ['all', 'serving', 'decoder', 'supervisor', 'merge', 'reload', 'compact']) {
      assert.ok(kills[what]! > 0, what);
    }
    assert.ok(takenOver > 0 && pruned > 0, JSON.stringify(done));
  });
}

test.run();
