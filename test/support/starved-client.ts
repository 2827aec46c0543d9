import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// a thread that sends a request, and another one over the same connection when it is told to

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

export interface ClientStart {
  readonly port: number;
  /** Becomes 1 once the second request has been handed to the system. */
  readonly sent: Int32Array;
}

const { port, sent } = workerData as ClientStart;
const socket = connect(port, '127.0.0.1');
socket.on('error', () => {});
socket.write(REQUEST);
await once(socket, 'data');
parentPort!.postMessage('kept');
await once(parentPort!, 'message');
socket.write(REQUEST, () => {
  Atomics.store(sent, 0, 1);
  Atomics.notify(sent, 0);
});
let answer = '';
socket.on('data', (bytes: Buffer) => {
  answer += bytes;
});
await once(socket, 'close');
parentPort!.postMessage(answer);
parentPort!.close();
