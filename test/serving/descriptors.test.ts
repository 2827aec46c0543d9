import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Envelope } from '../support/client.js';
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
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const count = async (): Promise<number> =>
    (await get('/rest/map_data_points/?page_size=1', { agent })).json<Envelope>().count;
  assert.is(await count(), countOf(1));
  const lines = Array.from({ length: 200 }, () => dial(port));
  await until('those beyond the limit are closed, which the idle one of the agent may be', () => {
    const open = lines.filter(({ isClosed }) => !isClosed).length;
    return open + Object.values(agent.freeSockets).flat().length <= 8;
  });
  // a build still finds descriptors, and so do the timers that run each second
  replaceFile(path, markedLines(2));
  await until('the new file is served', async () => (await count()) === countOf(2));
  await delay(1_100);
  assert.is(await count(), countOf(2));
  for (const { socket } of lines) socket.destroy();
  agent.destroy();
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
