import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import {
  createWriteHead,
  KEEP_ALIVE_MS,
  linesOf,
  parseLines,
} from '../../../src/http/answer/head.js';
import { assert, test } from '../../support/uvu.js';

const HEADERS = ['ETag', '"a: b"', 'Content-Type', 'application/json', 'Content-Length', '3'];

/** A server that writes heads in our way, or in Node's where the target is `/node`. */
async function startServer(): Promise<Server> {
  const writeHead = createWriteHead();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const url = request.url!;
    const status = url.includes('unchanged') ? 304 : url.includes('empty') ? 204 : 200;
    if (url.includes('last')) response.shouldKeepAlive = false;
    if (url.includes('node')) response.writeHead(status, HEADERS);
    else writeHead(response, status, linesOf(HEADERS));
    assert.ok(response.headersSent);
    response.end(status === 200 ? Buffer.from('äb') : undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Sends bytes and returns all that comes back until the server ends, without the time. */
async function exchange(server: Server, bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  return text.replaceAll(/Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'Date: now');
}

test('an answer has the bytes that Node itself would send', async () => {
  const server = await startServer();
  const head = ' HTTP/1.1\r\nHost: a\r\n';
  const end = `GET /last HTTP/1.1\r\nHost: a\r\n\r\n`;
  const requests: Record<string, (way: string) => string> = {
    GET: (way) => `GET /${way}${head}\r\n${end}`,
    HEAD: (way) => `HEAD /${way}${head}\r\n${end}`,
    'not modified': (way) => `GET /${way}-unchanged${head}\r\n${end}`,
    empty: (way) => `GET /${way}-empty${head}\r\n${end}`,
    'one after the other in one packet': (way) => `GET /${way}${head}\r\n`.repeat(3) + end,
    'the last of a connection': (way) => `GET /${way}-last${head}\r\n`,
    'Connection: close': (way) => `GET /${way}${head}Connection: close\r\n\r\n`,
    'HTTP/1.0': (way) => `GET /${way} HTTP/1.0\r\n\r\n`,
    'HTTP/1.0, kept': (way) =>
      `GET /${way} HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /${way} HTTP/1.0\r\n\r\n`,
  };
  for (const [name, request] of Object.entries(requests)) {
    const ours = await exchange(server, request('ours'));
    assert.match(ours, 'ETag: "a: b"\r\n', name);
    assert.is(ours, await exchange(server, request('node')), name);
  }
  server.close();
});

test('lines are parsed into the headers that they were made of', () => {
  assert.equal(parseLines(linesOf(HEADERS)), HEADERS);
  assert.equal(parseLines(''), []);
});

test.run();
