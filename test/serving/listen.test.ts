import { lookup } from 'node:dns/promises';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openSockets } from '../../src/serving/listen.js';
import { refusal } from '../support/rows.js';
import { SNAPSHOT, startService } from '../support/service.js';

for (const workers of ['1', '2']) {
  test(`${workers} workers listen at several addresses, and all of localhost's`, async () => {
    // all of 127.0.0.0/8 is this machine on Linux
    const other = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
    const flags = ['--host', `localhost,${other}`, '--workers', workers];
    const service = await startService(['--snapshot', SNAPSHOT, ...flags]);
    const own = await lookup('localhost', { all: true });
    for (const { address, family } of [...own, { address: other, family: 4 }]) {
      const host = family === 6 ? `[${address}]` : address;
      const reply = await fetch(`http://${host}:${service.port}/health/live`);
      assert.is(reply.status, 200, `${host} with ${workers}`);
    }
    await service.stop();
    assert.is(await service.ended, 0);
  });
}

test('no address at all is refused by name', async () => {
  for (const host of ['', ' ,']) {
    const where = { host, port: 0, listenTimeout: 0 };
    const opening = openSockets(where, pino({ level: 'silent' }), new AbortController().signal);
    assert.match(await refusal(opening), /^Cannot listen on .*: no address is named; leave --host/);
  }
});

test.run();
