import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeLater } from './closing.js';

/** A body, and its media type. */
export interface File {
  readonly type: string;
  readonly body: Buffer | string;
}

/** A web server of files for tests of browsers, on a free port of 127.0.0.1. */
export interface FileSite {
  /** Its scheme, host and port. */
  readonly site: string;
  stop(): Promise<void>;
}

/**
 * Serves what `find` has at a path, or 404, to pages of every origin. An error that `find` throws
 * is 404, too: a test hears of it from its browser.
 */
export async function startFileSite(find: (path: string) => File | undefined): Promise<FileSite> {
  const server = createServer(({ url }, answer) => {
    let file: File | undefined;
    try {
      file = find(new URL(url!, 'http://127.0.0.1').pathname);
    } catch {}
    answer.setHeader('Access-Control-Allow-Origin', '*');
    if (file === undefined) answer.writeHead(404).end();
    else answer.writeHead(200, { 'Content-Type': file.type }).end(file.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  closeLater(stop);
  return { site: `http://127.0.0.1:${port}`, stop };
}
