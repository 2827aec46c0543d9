import { once } from 'node:events';
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http';
import { connect } from 'node:net';
import * as assert from 'uvu/assert';

/** Where points are listed and posted. */
export const LIST = '/rest/map_data_points/';

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
  /** Milliseconds without a byte after which the request fails. */
  readonly patienceMs?: number;
}

/** Why {@link ask} got no answer. */
export interface NoAnswer extends NodeJS.ErrnoException {
  /** Whether the connection had been used before. */
  readonly isReused: boolean;
  /** Whether the head of an answer had come. */
  readonly hasBegun: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON; throws when it is not JSON. */
  json<T = unknown>(): T;
}

export interface Asking {
  get(path: string, asked?: Asked): Promise<Reply>;
}

export interface Envelope {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

/** How many points of a service match a query. */
export async function countOf({ get }: Asking, query = ''): Promise<number> {
  return (await get(`${LIST}?page_size=1&${query}`)).json<Envelope>().count;
}

export function jsonPost(fields: object, headers: OutgoingHttpHeaders = {}): Asked {
  const type = { 'Content-Type': 'application/json' };
  return { method: 'POST', body: JSON.stringify(fields), headers: { ...type, ...headers } };
}

/** Sends one request to a service on this machine; rejects with {@link NoAnswer}. */
export function ask(port: number, path: string, asked: Asked = {}): Promise<Reply> {
  const { method = 'GET', body, agent, patienceMs } = asked;
  // Node sends no length by itself for methods that usually have no body
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = { ...length, ...asked.headers };
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const fail = (error: Error): void => {
      error.message = `${method} ${path}: ${error.message}`;
      reject(Object.assign(error, { isReused: sent.reusedSocket, hasBegun }));
    };
    const options = { host: '127.0.0.1', port, path, method, headers, agent };
    const sent = request(options, (answer) => {
      hasBegun = true;
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', fail);
      answer.on('end', () => {
        const whole = Buffer.concat(chunks);
        resolve({
          status: answer.statusCode!,
          headers: answer.headers,
          body: whole,
          text: whole.toString(),
          json: <T>() => JSON.parse(whole.toString()) as T,
        });
      });
    });
    sent.on('error', fail);
    if (patienceMs) sent.setTimeout(patienceMs, () => sent.destroy(new Error('no answer')));
    sent.end(body);
  });
}

/** Sends one request over a connection of its own; resolves before the body is read. */
export async function openAnswer(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, agent: false, method, headers });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  // what breaks off from here on is an error of the answer
  sent.on('error', () => {});
  return answer;
}

/** Sends raw bytes and returns all that comes back until the service closes the connection. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  return (await socket.toArray()).join('');
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
}

export function bodyOf(answer: string): string {
  return Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'latin1').toString();
}

export interface StreamEvent {
  readonly id: number;
  readonly data: string;
}

/** A stream of events, which grows as they arrive. */
export interface Followed {
  readonly status: number;
  readonly answer: IncomingMessage;
  readonly events: readonly StreamEvent[];
  /** The id that a browser would send as `Last-Event-ID` when it reconnects. */
  readonly last: number;
  /** How the stream ended; undefined while it goes on. */
  readonly end: 'whole' | 'broken' | undefined;
}

/** Follows a stream, from the event after id `behind` where that is given. */
export async function follow(port: number, path: string, behind?: number): Promise<Followed> {
  const headers = behind === undefined ? {} : { 'Last-Event-ID': String(behind) };
  const answer = await openAnswer(port, path, { headers });
  const events: StreamEvent[] = [];
  const followed = {
    ...{ status: answer.statusCode!, answer, events, last: behind ?? -1 },
    end: undefined as Followed['end'],
  };
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => line.split(/: (.*)/s, 2));
      const { id, data } = Object.fromEntries(fields) as { id?: string; data?: string };
      // as browsers do: an event without data only sets the last id
      if (id !== undefined) followed.last = Number(id);
      if (data !== undefined) events.push({ id: followed.last, data });
    }
  });
  answer.on('end', () => {
    followed.end = 'whole';
  });
  answer.on('error', () => {
    followed.end = 'broken';
  });
  return followed;
}

/** A record of a list. */
export type Listed = Envelope['results'][number];

/** Posts a point whose comment is its key. */
export function postKeyed(service: Asking, key: string, agent?: Agent): Promise<Reply> {
  const asked = jsonPost({ lat: '10', lon: '20', comment: key }, { 'Idempotency-Key': key });
  return service.get(LIST, { ...asked, ...(agent && { agent }) });
}

/** Posts a point, asserts that it is accepted, and returns its sequence. */
export async function post(service: Asking, key: string): Promise<number> {
  const { status, headers, text } = await postKeyed(service, key);
  assert.ok(status === 201, `${status} ${text}`);
  return Number(headers['waypost-sequence']);
}

/** Every record that answers a query, page by page. */
export async function listAll({ get }: Asking, query = ''): Promise<Listed[]> {
  const records: Listed[] = [];
  const agent = new Agent({ keepAlive: true });
  for (let page = 1, count = 1; records.length < count; page++) {
    const path = `${LIST}?${query}&page_size=1000&page=${page}`;
    const envelope = (await get(path, { agent })).json<Envelope>();
    count = envelope.count;
    records.push(...envelope.results);
  }
  agent.destroy();
  return records;
}
