import { createServer } from 'node:http';
import { listen } from './sockets.js';

/** A body, and its media type. */
export interface File {
  readonly type: string;
  readonly body: Buffer | string;
}

/**
 * Serves what `find` has at a path to pages of every origin, until the file ends; returns scheme,
 * host and port. An error that `find` throws is 404, too: a test hears of it from its browser.
 */
export async function startFileSite(find: (path: string) => File | undefined): Promise<string> {
  const server = createServer(({ url }, answer) => {
    let file: File | undefined;
    try {
      file = find(new URL(url!, 'http://127.0.0.1').pathname);
    } catch {}
    answer.setHeader('Access-Control-Allow-Origin', '*');
    if (file === undefined) answer.writeHead(404).end();
    else answer.writeHead(200, { 'Content-Type': file.type }).end(file.body);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}
