import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerReader, postBytes, requestBytes } from './answers.js';
import { count, type Load, Recorder, type Round } from './types.js';

/**
 * Closed loop: each connection sends its next request when it has the answer to the last. Shows how
 * much a server can do; its latencies leave out what waiting clients would have seen. The
 * connections share the list of paths: each path is sent once before any is sent again.
 */
export async function closedLoop(load: Load): Promise<Round> {
  const { base, paths, postTo, connections, warmupSeconds, seconds, pid } = load;
  const { hostname, port, host } = new URL(base);
  const requests = paths.map((one) =>
    postTo === undefined ? requestBytes(one, '', 'GET', host) : postBytes(postTo, one, host),
  );
  const recorder = new Recorder(pid);
  const sockets = new Set<Socket>();
  let sent = 0;
  let isOver = false;

  function open(): void {
    const socket = connect(Number(port), hostname);
    let began = 0;
    const send = (): void => {
      began = performance.now();
      socket.write(requests[sent++ % requests.length]!);
    };
    const read = answerReader((status) => {
      if (recorder.isOn) {
        recorder.histogram.record(performance.now() - began);
        if (!status.startsWith('2')) count(recorder.errors, `status ${status}`);
      }
      send();
    });
    sockets.add(socket.setNoDelay());
    socket.on('connect', send);
    socket.on('data', (chunk: Buffer) => {
      if (recorder.isOn) recorder.bytes += chunk.length;
      read(chunk);
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      count(recorder.errors, error.code ?? error.message),
    );
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isOver) setTimeout(open, 20);
    });
  }

  for (let i = 0; i < connections; i++) open();
  await delay(warmupSeconds * 1000);
  recorder.begin();
  await delay(seconds * 1000);
  const round = recorder.end();
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return round;
}
