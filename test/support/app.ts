import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { Context } from '../../src/http/answer/context.js';
import { createWriteHead } from '../../src/http/answer/head-lines.js';
import { createRequestStats } from '../../src/http/answer/request-stats.js';
import { createApp } from '../../src/http/app.js';
import { createCutCounts } from '../../src/http/limits.js';
import { openTimeZone } from '../../src/model/time-zone.js';
import { PLAIN_SITE } from './pages.js';

/** A web server in this process. */
export interface OwnApp {
  readonly port: number;
  readonly stats: Context['stats'];
  close(): Promise<void>;
}

/** Starts a web server that answers clients from `current`, on a port of its own. */
export async function startApp(
  current: Pick<Context['current'], 'generation'>,
  answerCacheBytes = 0,
): Promise<OwnApp> {
  const stats = createRequestStats();
  const context: Context = {
    current: current as Context['current'],
    logger: pino({ level: 'silent' }),
    stats,
    zone: await openTimeZone('UTC'),
    origin: { publicUrl: undefined, trustProxy: false, allowedHosts: ['*'] },
    corsOrigin: ['*'],
    tokens: { table: new Map() },
    thread: 0,
    answerCacheBytes,
    maxPageBytes: 8 * 1024 * 1024,
    compress: false,
    site: PLAIN_SITE,
    mediaFolder: undefined,
    posting: undefined,
    accessLog: 0,
    writeHead: createWriteHead(),
    note: () => {},
    closing: () => false,
  };
  const app = createApp({
    context,
    service: undefined as never,
    limits: {
      maxHeaderSize: 32_768,
      requestTimeout: 10_000,
      uploadTimeout: 10_000,
      maxLoopDelay: 0,
    },
    cut: createCutCounts(),
    adminToken: undefined,
    audience: 'clients',
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { port, stats, close: () => app.close() };
}
