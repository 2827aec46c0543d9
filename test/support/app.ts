import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { type Context, RequestStats } from '../../src/http/answer/context.js';
import { createWriteHead } from '../../src/http/answer/head.js';
import { createMake, type SlowLane } from '../../src/http/answer/question.js';
import { answerInLane, LaneExports } from '../../src/http/answer/slow-lane.js';
import { type Audience, createApp } from '../../src/http/app.js';
import { CutCounts } from '../../src/http/limits.js';
import type { Service } from '../../src/http/operations.js';
import { createSite, type Site } from '../../src/http/pages/site.js';
import { createOriginOf } from '../../src/http/request/origin.js';
import { createViews } from '../../src/http/routes/resources.js';
import { appendToDelta, createDelta } from '../../src/index/delta.js';
import { openTimeZone } from '../../src/model/time-zone.js';
import { SharedRoom } from '../../src/model/turns.js';
import { type Asked, ask, type Reply } from './client.js';
import { acceptedOf, generationOf } from './engine.js';
import { closeLater } from './folder.js';
import type { Note } from './notes.js';

const [requestTimeout, uploadTimeout] = [10_000, 10_000];
const LIMITS = { maxHeaderSize: 32_768, requestTimeout, uploadTimeout, maxLoopDelay: 0 };
const ORIGIN = { publicUrl: undefined, trustProxy: false, allowedHosts: ['*'] };

export interface OwnApp {
  readonly port: number;
  readonly server: Server;
  readonly stats: Context['stats'];
  readonly bodies: Context['bodies'];
  /** The methods of each route, by its path in Fastify's notation. */
  readonly routes: ReadonlyMap<string, ReadonlySet<string>>;
  get(path: string, asked?: Asked): Promise<Reply>;
  close(): Promise<void>;
}

type Served = Pick<Context['current'], 'generation'>;

/** The default server only reads, caches no answers and accepts any client. */
type Given = Partial<Context> & {
  readonly audience?: Audience;
  readonly service?: Partial<Service>;
  readonly adminToken?: string;
};

/**
 * Starts a web server that answers from `current`, without the operators' routes, at a free port.
 * This costs a tenth of the CPU of `startOwnService`.
 */
export async function startApp(
  current: Served,
  { audience = 'clients', service, adminToken, ...given }: Given = {},
): Promise<OwnApp> {
  const { origin = ORIGIN } = given;
  const stats = new RequestStats();
  const bodies = new SharedRoom(2 ** 26);
  const context: Context = {
    current: current as Context['current'],
    logger: pino({ level: 'silent' }),
    stats,
    zone: await openTimeZone('UTC'),
    origin,
    originOf: createOriginOf(origin),
    corsOrigin: ['*'],
    tokens: { table: new Map() },
    answerCacheBytes: 0,
    maxPageBytes: 8 * 1024 * 1024,
    compress: false,
    site: PLAIN_SITE,
    media: undefined,
    posting: undefined,
    bodies,
    batchMs: 10_000,
    accessLog: 0,
    writeHead: createWriteHead(),
    slowLane: laneHere(current, () => context),
    note: () => {},
    closing: () => false,
    ...given,
  };
  const app = createApp({
    context,
    service: service as Service,
    limits: LIMITS,
    cut: new CutCounts(),
    adminToken,
    audience,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  closeLater(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return {
    port,
    server: app.server,
    stats,
    bodies,
    routes: routesOf(app.printRoutes({ commonPrefix: false })),
    get: (path, asked) => ask(port, path, asked),
    close: () => app.close(),
  };
}

/** A slow lane that runs in this thread, in a later turn of the event loop. */
function laneHere(current: Served, context: () => Context): SlowLane {
  let views: ReturnType<typeof createViews> | undefined;
  const exports = new LaneExports();
  let last = 0;
  return {
    async ask(question) {
      await turn();
      views ??= createViews(context());
      const make = createMake(context(), views.get(question.view)!);
      return answerInLane(make, question, current.generation);
    },
    async step(step) {
      await turn();
      return exports.step({ ...step, export: step.export ?? ++last }, current.generation);
    },
  };
}

/** Reads Fastify's printed tree of routes: each line is a piece of a path with its methods. */
function routesOf(tree: string): Map<string, Set<string>> {
  const routes = new Map<string, Set<string>>();
  const pieces: string[] = [];
  for (const line of tree.split('\n')) {
    const found = /^([│ ]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line);
    if (found === null) continue;
    const [, indent, piece, methods] = found;
    pieces.splice(indent!.length / 4, Infinity, piece!);
    if (methods === undefined) continue;
    // Fastify prints no slash before a wildcard
    const path = pieces.join('').replace(/(?<!\/)\*$/, '/*');
    routes.set(path, new Set([...(routes.get(path) ?? []), ...methods.split(', ')]));
  }
  return routes;
}

/** The site of a service that only reads, without images. */
export const PLAIN_SITE: Site = createSite({}, false);

const CAPACITY = { rows: 1_000, bytes: 1_000_000 };

export interface NotesApp extends OwnApp {
  /** Adds notes to the delta, as accepted posts. */
  accept(notes: readonly Note[]): void;
  /** Serves a new snapshot of these notes and an empty delta. */
  replace(notes: readonly Note[]): Promise<void>;
}

/** Starts a server of these notes; their ids may come in any order. */
export async function startNotes(notes: readonly Note[], given: Given = {}): Promise<NotesApp> {
  let delta = createDelta(CAPACITY);
  let accepted = 0;
  const current = { generation: await generationOf(notes, { digest: 'notes', delta }) };
  const app = await startApp(current, given);
  return {
    ...app,

    accept(more) {
      appendToDelta(delta, acceptedOf(more, accepted + 1));
      accepted += more.length;
    },
    async replace(others) {
      delta = createDelta(CAPACITY);
      accepted = 0;
      current.generation = await generationOf(others, { digest: 'others', delta });
    },
  };
}
