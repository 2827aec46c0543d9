import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Envelope, LIST } from '../support/client.js';
import { countOf, markedLines, replaceFile } from '../support/marked.js';
import { type Service, startService } from '../support/service.js';
import { dial } from '../support/sockets.js';
import { assert, failure, makeFile, test, until } from '../support/uvu.js';

const path = makeFile(markedLines(1));
const limitedTest = existsSync('/proc/self/limits') ? test : test.skip;

function serveWith(files: number, ...flags: string[]): Promise<Service> {
  const given = ['--snapshot', path, '--settle', '30ms', ...flags];
  return startService(given, {}, ['/bin/sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`]);
}

limitedTest('more connections than file descriptors do not harm the service', async () => {
  const { logs, port, get, ended, stop } = await serveWith(96);
  await until('it tells of its limit', () => logs.length === 2);
  assert.equal([logs[1]!['wanted'], logs[1]!['connections']], [20_000, 8]);
  // at the limit a request may lose its connection to a new client, and is sent again
  const serves = (mark: number): Promise<void> =>
    until(`snapshot ${mark} is served`, async () => {
      const reply = await get(`${LIST}?page_size=1`).catch(({ code }: NodeJS.ErrnoException) => {
        assert.is(code, 'ECONNRESET');
      });
      if (reply) assert.is(reply.status, 200);
      return reply?.json<Envelope>().count === countOf(mark);
    });
  await serves(1);
  const lines = Array.from({ length: 200 }, () => dial(port));
  await until('those beyond the limit are closed', () => {
    return lines.filter(({ isClosed }) => !isClosed).length <= 8;
  });
  // a build still finds descriptors, and so do the timers that run each second
  replaceFile(path, markedLines(2));
  await serves(2);
  await delay(1_100);
  await serves(2);
  for (const { socket } of lines) socket.destroy();
  await stop();
  assert.is(await ended, 0);
});

limitedTest('a file limit that costs a few connections is not a warning', async () => {
  const { logs, stop } = await serveWith(296, '--max-connections', '250');
  // a warning would have been logged by now
  await stop();
  const [begun, ...others] = logs;
  assert.is(begun!['connections'], 208);
  assert.equal(others.map(({ msg }) => msg).join(), 'closing,closed');
});

limitedTest('a file limit that leaves no room for connections is refused', async () => {
  const { message } = await failure(serveWith(88));
  assert.match(message, /ended with 1: waypost: The limit of 88 open files is too low.*ulimit -n/);
});

test.run();
