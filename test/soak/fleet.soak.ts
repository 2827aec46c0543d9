import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { POSTGRES } from '../support/database.js';
import { sufferAccidents } from '../support/fleet-accidents.js';
import { testUnless } from '../support/skip.js';

const ROUNDS = Number(process.env['FLEET_ROUNDS'] ?? 100);
const CLIENTS = Number(process.env['FLEET_CLIENTS'] ?? 60);
const SEED = Number(process.env['FLEET_SEED'] ?? 1);

testUnless(
  POSTGRES === undefined ? 'there is no PostgreSQL here' : undefined,
  `seed ${SEED}: ${ROUNDS} accidents lose and double nothing`,
  async () => {
    const done = await sufferAccidents(SEED, ROUNDS, CLIENTS);
    console.log(`seed ${SEED}: ${JSON.stringify(done)}`);
    assert.ok(done['posts']! > ROUNDS * CLIENTS);
  },
);

test.run();
