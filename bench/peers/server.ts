import cluster from 'node:cluster';
import { once } from 'node:events';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type FastifyInstance, fastify } from 'fastify';
import { LIST } from '../places.js';
import type { PeerQuery, PeerStore } from './types.js';

/**
 * Serves one peer over HTTP. The argument is, by kind: a folder of bodies to send in turn
 * (`fastify`, and with a process for each core `fastify-cluster`), a file to stream (`file`), the
 * port of a database (`redis`, `postgis`), or an NDJSON file to fill itself from (`sqlite`).
 */
async function main(kind: string, argument: string): Promise<void> {
  let port: number;
  if (kind === 'fastify') port = await serveBytes(argument);
  else if (kind === 'file') port = await serveFile(argument);
  else if (kind === 'fastify-cluster') port = await serveBytesOnAllCores(argument);
  else port = await serveStore(await openStore(kind, argument));
  if (cluster.isPrimary) console.log(JSON.stringify({ address: `http://127.0.0.1:${port}` }));
}

/** Clients of databases are imported where they are used: a bare route must not carry them. */
async function openStore(kind: string, argument: string): Promise<PeerStore> {
  switch (kind) {
    case 'redis':
      return (await import('./redis.js')).openRedis(Number(argument));
    case 'postgis':
      return (await import('./postgis.js')).openPostgis(Number(argument));
    case 'sqlite':
      return (await import('./sqlite.js')).openSqlite(argument);
    default:
      throw new Error(`Expected a peer, got ${kind}.`);
  }
}

/** Routes that do nothing but send a body, or a post back: what Fastify costs by itself. */
async function serveBytes(folder: string): Promise<number> {
  let next: ((url: string) => Buffer) | undefined;
  const app = fastify();
  app.get(LIST, (request, reply) => {
    next ??= readBodies(folder);
    reply.header('content-type', 'application/json').send(next(request.raw.url!));
  });
  app.post(LIST, (request, reply) => void reply.code(201).send(request.body));
  return listen(app);
}

async function serveFile(path: string): Promise<number> {
  const app = fastify();
  app.get(LIST, (_request, reply) => reply.send(createReadStream(path)));
  return listen(app);
}

async function serveBytesOnAllCores(folder: string): Promise<number> {
  if (cluster.isWorker) return serveBytes(folder);
  const processes = Array.from({ length: availableParallelism() }, () => cluster.fork());
  const addresses = processes.map((one) => once(one, 'listening'));
  const [[{ port }]] = (await Promise.all(addresses)) as [[AddressInfo]];
  return port;
}

/** Deals out the bodies of a folder; those of circles have names that begin with `circle`. */
function readBodies(folder: string): (url: string) => Buffer {
  const names = readdirSync(folder).sort();
  const read = (kind: string): Buffer[] =>
    names.filter((name) => name.startsWith(kind)).map((name) => readFileSync(join(folder, name)));
  const [boxes, circles] = [read('box'), read('circle')];
  let turn = 0;
  return (url) => {
    const bodies = url.includes('coordinates=') ? circles : boxes;
    return bodies[turn++ % bodies.length]!;
  };
}

async function serveStore(store: PeerStore): Promise<number> {
  const app = fastify();
  app.get(LIST, async (request, reply) => {
    const { count, records } = await store.page(readQuery(request.query as PeerParameters));
    reply.header('content-type', 'application/json');
    return `{"count":${count},"next":null,"previous":null,"results":[${records}]}`;
  });
  return listen(app);
}

interface PeerParameters {
  readonly bbox?: string;
  readonly coordinates?: string;
}

function readQuery({ bbox, coordinates }: PeerParameters): PeerQuery {
  if (bbox !== undefined) {
    const [west, south, east, north] = bbox.split(',').map(Number);
    return { box: [west!, south!, east!, north!] };
  }
  const [lat, lon, radius] = coordinates!.split(',').map(Number);
  return { circle: { lat: lat!, lon: lon!, radius: radius! } };
}

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

await main(process.argv[2]!, process.argv[3]!);
