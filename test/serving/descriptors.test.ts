import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, type Envelope } from '../support/client.js';
import { makeFolder } from '../support/folder.js';
import { countOf, markedLines, replaceFile } from '../support/marked.js';
import { MAIN } from '../support/service.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const isLinux = existsSync('/proc/self/limits');
const path = join(makeFolder(), 'points');
writeFileSync(path, markedLines(1));

/** Runs `waypost serve` with a limit of open files. */
function serveWith(files: number, flags: readonly string[]): ReturnType<typeof spawn> {
  const args = [MAIN, 'serve', '--snapshot', path, '--port', '0', '--settle', '30ms', ...flags];
  const limited = ['-c', `ulimit -n ${files}; exec "$0" "$@"`, process.execPath, ...args];
  return spawn('/bin/sh', limited, { stdio: ['ignore', 'pipe', 'pipe'] });
}

(isLinux ? test : test.skip)('more connections than files may be open end nothing', async () => {
  const child = serveWith(96, ['--workers', '1']);
  const logs: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => logs.push(JSON.parse(line)));
  const sockets: Socket[] = [];
  try {
    await until('it serves', () => logs.length === 2);
    const [begun, clamped] = logs;
    assert.equal([clamped!['wanted'], clamped!['connections']], [20_000, 8]);
    const port = Number(new URL(begun!['address'] as string).port);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const count = async (): Promise<number> =>
      (await ask(port, '/rest/map_data_points/?page_size=1', { agent })).json<Envelope>().count;
    assert.is(await count(), countOf(1));
    let closed = 0;
    for (let i = 0; i < 200; i++) {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket.on('error', () => {}).on('close', () => closed++));
    }
    await until('those beyond the limit are closed', () => closed >= 200 - 8);
    // there is room for a build, and the timers of a second come by
    replaceFile(path, markedLines(2));
    await until('the new file is served', async () => (await count()) === countOf(2));
    await delay(1_100);
    assert.is(await count(), countOf(2));
    for (const socket of sockets) socket.destroy();
    agent.destroy();
    child.kill('SIGTERM');
    assert.equal(await once(child, 'exit'), [0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});

(isLinux ? test : test.skip)(
  'a limit that takes a few of the connections is no warning',
  async () => {
    const child = serveWith(296, ['--workers', '1', '--max-connections', '250']);
    try {
      let text = '';
      for await (const chunk of child.stdout!) {
        text += chunk;
        // whatever is logged beside it comes at once
        if (text.includes('serving')) child.kill('SIGTERM');
      }
      const [begun, ...others] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.is(begun.connections, 208);
      assert.equal(
        others.map(({ msg }) => msg),
        ['closing', 'closed'],
      );
    } finally {
      child.kill('SIGKILL');
    }
  },
);

(isLinux ? test : test.skip)('a limit that leaves no room for connections is refused', async () => {
  const child = serveWith(88, ['--workers', '1']);
  let stderr = '';
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
  });
  assert.equal(await once(child, 'close'), [1, null]);
  assert.match(stderr, /^waypost: The limit of 88 open files is too low.*ulimit -n/);
});

test.run();
