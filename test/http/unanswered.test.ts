import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { metricsOf } from '../support/operating.js';
import { type OwnService, startOwnService } from '../support/own-service.js';
import { SNAPSHOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';
import { until } from '../support/wait.js';

const MIB = 1024 * 1024;
const LARGE_PAGE = 'GET /rest/map_data_points/?page_size=1000 HTTP/1.1\r\nHost: a\r\n\r\n';
let service: OwnService;
const sockets: Socket[] = [];

test.before(async () => {
  service = await startOwnService(['--snapshot', SNAPSHOT, '--answer-cache', '0']);
});

async function open(): Promise<Socket> {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function answered(): Promise<number> {
  const { value } = await metricsOf(service);
  return value('waypost_http_request_duration_seconds_count', { route: 'points' });
}

test('a packet of requests whose client has left is not worked on', async () => {
  const before = await answered();
  const socket = await open();
  socket.write(LARGE_PAGE.repeat(656));
  await once(socket, 'data');
  socket.resetAndDestroy();
  await until('the connection is closed', async () => {
    const { value } = await metricsOf(service);
    return value('waypost_connections') <= 1;
  });
  const made = (await answered()) - before;
  assert.ok(made < 100, `${made} of 656 were answered`);
});

test('others are answered between the requests of a packet', async () => {
  const { body } = await service.get('/rest/map_data_points/?page_size=1000');
  const socket = await open();
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  socket.write(LARGE_PAGE.repeat(656));
  await once(socket, 'data');
  // not the metrics, which wait for their turn themselves
  assert.is((await service.get('/health/live')).status, 200);
  const meanwhile = Math.floor(received / body.length);
  assert.ok(meanwhile < 400, `${meanwhile} of 656 came first`);
  socket.destroy();
});

test('clients that read nothing do not fill the memory', async () => {
  const memory = async (): Promise<number> =>
    (await metricsOf(service)).value('process_resident_memory_bytes');
  const before = await memory();
  const clients = await Promise.all(Array.from({ length: 40 }, open));
  for (const client of clients) {
    client.pause();
    client.write(LARGE_PAGE.repeat(951));
  }
  let last = -1;
  await until('no more is made for them', async () => {
    const now = await answered();
    const isStill = now === last;
    last = now;
    return isStill && now > 0;
  });
  const { value } = await metricsOf(service);
  const unsent = value('waypost_unsent_bytes');
  // two answers of 280 kB each; some clients are cut off because too many requests wait
  assert.ok(unsent > 0 && unsent < 40 * 0.7 * MIB, `${unsent} bytes not taken`);
  const grown = ((await memory()) - before) / MIB;
  assert.ok(grown < 250, `${grown} MB more`);
});

test.after(async () => {
  for (const socket of sockets) socket.destroy();
  await service.stop();
});

test.run();
