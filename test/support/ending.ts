import { connect, type Socket } from 'node:net';
import * as assert from 'uvu/assert';
import { startLoad } from './load.js';
import { type Service, startService } from './service.js';
import { until } from './wait.js';

/** Sends the signal and waits for the end; returns the exit code and how long it took. */
export async function end(
  service: Service,
  signal: NodeJS.Signals,
): Promise<[code: number | null, took: number]> {
  const began = performance.now();
  process.kill(service.pid, signal);
  const code = await service.ended;
  return [code, performance.now() - began];
}

/** A connection to a port of this machine, once it is open. */
export function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

async function isRefused(port: number): Promise<boolean> {
  return opened(port).then(
    (socket) => {
      socket.destroy();
      return false;
    },
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  );
}

/** Connections that are used again and again, and that are opened for one request each. */
const KEPT = 6;
const FRESH = 3;

/** Ends a service of a marked snapshot while requests come in, and checks that none was lost. */
export async function endUnderLoad(
  signal: NodeJS.Signals,
  path: string,
  workers: string,
): Promise<void> {
  const service = await startService(['--snapshot', path, '--workers', workers]);
  try {
    const { port } = service;
    const kept = await startLoad({ port, connections: KEPT, fresh: false, marked: true });
    const fresh = await startLoad({ port, connections: FRESH, fresh: true, marked: true });
    await until('load', () => kept.result.answered > 100 && fresh.result.answered > 50);

    const [code, took] = await end(service, signal);
    assert.is(code, 0);
    // not for as long as requests may take
    assert.ok(took < 9_000, `${took} ms`);
    assert.ok(await isRefused(port));
    await until('they notice', () => kept.result.refused > 0 && fresh.result.refused > 0);
    for (const [load, connections] of [
      [kept, KEPT],
      [fresh, FRESH],
    ] as const) {
      const { failures, failed, dropped } = await load.end();
      assert.equal([failures, failed], [[], 0]);
      // in the queue of the system when the port was closed, each once: nobody had accepted them
      assert.ok(dropped <= connections, `${dropped} of ${connections} dropped`);
    }
    const lines = service.logs.map(({ msg }) => msg);
    assert.equal([lines.includes('closing'), lines.at(-1)], [true, 'closed']);
  } finally {
    await service.stop();
  }
}
