import { connect, type Socket } from 'node:net';

/** An answer as it came over a connection. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

/** Silence of this length is a hang. */
const SILENCE_MS = 30_000;
const HEAD_END = Buffer.from('\r\n\r\n');

/** A connection that sends many requests at once and takes their answers in turn. */
export interface Pipeline {
  /** Sends bytes that hold `count` requests, and resolves to their answers. */
  exchange(bytes: Buffer, count: number): Promise<RawAnswer[]>;
  close(): void;
}

/** Connects to a service on this machine. Answers with a body must have a Content-Length. */
export async function openPipeline(port: number): Promise<Pipeline> {
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.setNoDelay(true);
  return {
    exchange: (bytes, count) => exchange(socket, bytes, count),
    close: () => socket.destroy(),
  };
}

function exchange(socket: Socket, bytes: Buffer, count: number): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const answers: RawAnswer[] = [];
    let rest: Buffer = Buffer.alloc(0);
    const settle = (error?: Error): void => {
      socket.removeAllListeners();
      socket.setTimeout(0);
      // a connection that is lost later is of no interest
      socket.on('error', () => {});
      if (error === undefined) resolve(answers);
      else reject(error);
    };
    const fail = (what: string): void => {
      settle(new Error(`${what} after ${answers.length} of ${count} answers`));
    };
    socket.on('data', (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (;;) {
        const parsed = parseAnswer(rest);
        if (parsed === undefined) break;
        answers.push(parsed.answer);
        rest = rest.subarray(parsed.end);
      }
      if (answers.length >= count) settle();
    });
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('closed'));
    socket.setTimeout(SILENCE_MS, () => fail('silence'));
    socket.write(bytes);
  });
}

function parseAnswer(bytes: Buffer): { answer: RawAnswer; end: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(head.slice(9, 12));
  const length = status === 204 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (Number.isNaN(length)) throw new Error(`no Content-Length: ${head}`);
  const start = headEnd + HEAD_END.length;
  const end = start + length;
  if (bytes.length < end) return undefined;
  return { answer: { status, head, body: bytes.subarray(start, end) }, end };
}
