import { ServerResponse, STATUS_CODES } from 'node:http';
import { canSetHead, setHead } from './node-internals.js';

/** How long an idle connection is kept, in milliseconds: longer than proxies do. */
export const KEEP_ALIVE_MS = 72_000;

/** Header lines, each with its line end, of names and values in turn. */
export function linesOf(headers: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return lines;
}

/** Names and values in turn, of header lines. */
export function parseLines(lines: string): string[] {
  return lines
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
}

/** Statuses of answers that do not take the way of errors. */
export type PlainStatus = 200 | 201 | 204 | 304;

/** Gives a response its status and its header lines, before it is ended. */
export type WriteHead = (response: ServerResponse, status: PlainStatus, lines: string) => void;

/**
 * Makes a writer of heads. `lines` must hold only what may stand in a head: nothing checks them.
 * Node's own `writeHead` joins the same text out of single headers and checks each, which takes a
 * tenth of a small answer. It is called all the same for what has a head of another shape: HTTP
 * 1.0, the last answer of a connection, and a response that is not Node's own.
 */
export function createWriteHead(): WriteHead {
  const canSetText = canSetHead();
  const starts = { 200: startOf(200), 201: startOf(201), 204: startOf(204), 304: startOf(304) };
  let second = 0;
  let ending = '';

  function endingNow(): string {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) {
      second = now;
      const date = new Date(now * 1_000).toUTCString();
      const timeout = `timeout=${KEEP_ALIVE_MS / 1_000}`;
      ending = `${linesOf(['Date', date, 'Connection', 'keep-alive', 'Keep-Alive', timeout])}\r\n`;
    }
    return ending;
  }

  return (response, status, lines) => {
    const { httpVersionMinor } = response.req;
    if (canSetText && response.shouldKeepAlive && httpVersionMinor === 1 && isPlain(response)) {
      response.statusCode = status;
      setHead(response, starts[status] + lines + endingNow());
    } else {
      response.writeHead(status, parseLines(lines));
    }
  };
}

function startOf(status: PlainStatus): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
}

function isPlain(response: ServerResponse): boolean {
  return Object.getPrototypeOf(response) === ServerResponse.prototype;
}
