import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { markedLines } from './marked.js';
import { until } from './wait.js';

export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A web server that has one snapshot, and may fail in every way. */
export class Origin {
  content: Buffer = markedLines(1);
  /** By default a digest; the server sends none where it is empty. */
  etag: string | undefined;
  modifiedAt: number = Date.UTC(2024, 1, 3);
  checksum: string | undefined;
  noChecksum = 404;
  /** Number of requests for the checksum that get no answer. */
  unanswered = 0;
  /** Answers instead of the snapshot, in turn; `undefined` is the usual one. */
  readonly next: (Handle | undefined)[] = [];
  authorization: string | undefined;
  /** What was asked for: status and range of each answer, behind `HEAD` where that was asked. */
  readonly answers: string[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response));
  port = 0;

  async open(): Promise<string> {
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    ({ port: this.port } = this.#server.address() as AddressInfo);
    return `http://127.0.0.1:${this.port}/my%20points.ndjson?signature=secret`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const tag = this.#name(response);
    const { 'if-none-match': known, range, 'if-range': condition } = request.headers;
    const since = Date.parse(request.headers['if-modified-since'] ?? '');
    if (known === tag || this.modifiedAt <= since) return void response.writeHead(304).end();
    const isSame = condition === tag || condition === response.getHeader('Last-Modified');
    const from = isSame ? Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0) : 0;
    const part = this.content.subarray(from);
    const { length } = this.content;
    response.setHeader('Content-Length', part.length);
    if (from > 0) response.setHeader('Content-Range', `bytes ${from}-${length - 1}/${length}`);
    response.writeHead(from > 0 ? 206 : 200).end(part);
  }

  /** Sends the first `bytes` and no more; if `isBroken`, breaks off once they are on disk. */
  sendPart(bytes: number, isBroken: boolean, folder: string): Handle {
    return async (_, response) => {
      this.#name(response);
      response.writeHead(200, { 'Content-Length': this.content.length });
      response.write(this.content.subarray(0, bytes));
      const sizes = (): number[] =>
        readdirSync(folder).map((one) => statSync(join(folder, one)).size);
      await until('they are there', () => sizes().includes(bytes) || response.destroyed);
      if (isBroken) response.destroy();
    };
  }

  /** Sets the headers that tell one content from another; returns its tag. */
  #name(response: ServerResponse): string {
    const tag = this.etag ?? this.#digest();
    if (tag !== '') response.setHeader('ETag', tag);
    response.setHeader('Last-Modified', new Date(this.modifiedAt).toUTCString());
    return tag;
  }

  #digest(): string {
    return `"${createHash('md5').update(this.content).digest('hex')}"`;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.url?.startsWith('/my%20points.ndjson.sha256?signature=')) {
      if (this.unanswered-- > 0) return;
      return void response
        .writeHead(this.checksum === undefined ? this.noChecksum : 200)
        .end(this.checksum);
    }
    this.authorization = request.headers.authorization;
    response.once('close', () => {
      const asked = request.method === 'HEAD' ? 'HEAD ' : '';
      const { range = '' } = request.headers;
      this.answers.push(`${asked}${response.statusCode} ${range}`.trim());
    });
    (this.next.shift() ?? this.serve.bind(this))(request, response);
  }
}
