import { once } from 'node:events';
import type { Socket } from 'node:net';
import { appendToDelta, createDelta } from '../../src/index/delta.js';
import type { Generation } from '../../src/reload/current.js';
import { type OwnApp, startApp } from './app.js';
import { acceptedOf, generationOf } from './engine.js';
import { scatterNotes } from './notes.js';
import { dial } from './sockets.js';
import { until } from './wait.js';

/**
 * Starts a server of 11 notes, the last of which is a post. A client asks for a state with it,
 * before it is there, by a request that begins with `line`, and leaves. Resolves once the request
 * has gone on.
 */
export async function startDeserted(
  line: string,
  body: string,
  given: Parameters<typeof startApp>[1] = {},
): Promise<OwnApp> {
  const delta = createDelta({ rows: 10, bytes: 10_000 });
  const generation = await generationOf(scatterNotes(19, 10), { digest: 'posts', delta });
  let looks = 0;
  const current = {
    get generation(): Generation {
      looks++;
      return generation;
    },
  };
  const app = await startApp(current, given);
  const { socket } = dial(app.port);
  const [connection] = (await once(app.server, 'connection')) as [Socket];
  const head = [line, 'Host: x', 'Content-Type: application/json', 'Waypost-At-Least: 1'];
  head.push(`Content-Length: ${body.length}`, '', body);
  socket.write(head.join('\r\n'));
  await until('it waits', () => looks > 1);
  socket.resetAndDestroy();
  await until('the service knows', () => connection.closed);
  appendToDelta(delta, acceptedOf(scatterNotes(20, 1), 1));
  const before = looks;
  await until('it has looked again', () => looks > before);
  // takes several turns of the event loop
  await app.get('/rest/');
  return app;
}
