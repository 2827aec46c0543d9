import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const LIST = '/rest/map_data_points/';
const POINT = { lat: '60.17', lon: '24.94', comment: 'The bench is broken.', tags: ['Repair'] };
/** The last byte of an answer: the record's. */
const CLOSING_BRACE = 0x7d;

/** What is posted, and the status that it gets. */
interface Kind {
  readonly body: string;
  readonly status: number;
}

/** Posts that are accepted, and posts that are refused: read, parsed and looked at all the same. */
export const KINDS: Readonly<Record<'accepted' | 'refused', Kind>> = {
  accepted: { body: JSON.stringify(POINT), status: 201 },
  refused: { body: JSON.stringify({ ...POINT, lat: '90.17' }), status: 400 },
};

/** A connection on which one post after the other is sent. */
interface Client {
  /** Sends a post. Resolves when it got the status that it should; rejects when it did not. */
  post(): Promise<void>;
  close(): void;
}

/**
 * Posts as fast as it goes for so many seconds, each client its next when the last was accepted.
 * Returns how many were accepted a second. What is sent is made once, and of an answer only the
 * ends are looked at: the clients have their share of the same cores.
 */
export async function postFor(url: string, seconds: number, connections: number): Promise<number> {
  const clients = await openClients(url, connections, KINDS.accepted);
  const began = performance.now();
  const until = began + seconds * 1000;
  let accepted = 0;
  await Promise.all(
    clients.map(async ({ post }) => {
      while (performance.now() < until) {
        await post();
        accepted++;
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1000;
  for (const client of clients) client.close();
  return accepted / elapsed;
}

/**
 * Posts evenly, so many a second, whatever the answers; throws when one was not answered as its
 * kind is.
 */
export async function postEvenly(
  url: string,
  seconds: number,
  perSecond: number,
  kind: Kind,
): Promise<void> {
  const clients = await openClients(url, Math.ceil(perSecond / 8), kind);
  const idle = [...clients];
  const posts: Promise<void>[] = [];
  const began = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - began) / 1000) {
    while (posts.length < elapsed * perSecond && idle.length > 0) {
      // in turn: a connection that rests for long is closed by the service
      const client = idle.shift()!;
      posts.push(client.post().then(() => void idle.push(client)));
    }
    await delay(1);
  }
  await Promise.all(posts);
  for (const client of clients) client.close();
}

async function openClients(url: string, count: number, { body, status }: Kind): Promise<Client[]> {
  const { hostname, port, host } = new URL(url);
  const request = Buffer.from(
    `POST ${LIST} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const opened = Array.from({ length: count }, async () => {
    const socket = connect(Number(port), hostname);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return clientOf(socket, request, `HTTP/1.1 ${status} `);
  });
  return Promise.all(opened);
}

function clientOf(socket: Socket, request: Buffer, wanted: string): Client {
  let first: Buffer | undefined;
  let settle: ((problem?: Error) => void) | undefined;
  const fail = (problem: Error): void => settle?.(problem);
  socket.setNoDelay();
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The service closed a connection.')));
  socket.on('data', (chunk: Buffer) => {
    first ??= chunk;
    if (chunk.at(-1) !== CLOSING_BRACE) return;
    const status = first.toString('latin1', 0, wanted.length);
    first = undefined;
    settle?.(status === wanted ? undefined : new Error(`A post got ${status.trim()}.`));
  });
  return {
    post: () =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) throw new Error('The service closed a connection that rested.');
        settle = (problem) => (problem === undefined ? resolve() : reject(problem));
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}
