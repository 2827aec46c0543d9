import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Callback, Test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../src/cli/generate/random.js';
import { type Asking, LIST, type Reply } from './client.js';
import { type Database, POSTGRES, startDatabase } from './database.js';
import { closeLater, makeFolder, writeAged } from './folder.js';
import { FIRST_NOTE } from './kept-posts.js';
import { type OwnService, startOwnService } from './own-service.js';
import type { Service } from './service.js';
import { listen } from './sockets.js';

/** Headers that must be the same on every instance. */
const HEADERS = ['etag', 'waypost-snapshot', 'last-modified', 'content-type', 'link'];

/** A proxy between an instance and its database that can cut connections. */
export interface CuttingProxy {
  readonly port: number;
  cut(): void;
  /** Skips `others` batches, then passes one on and cuts its connection before the answer. */
  cutInCommit(others?: number): void;
}

/** Starts a proxy before a port of this machine, which `port` tells anew for each connection. */
export async function startProxy(port: () => number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cutsIn = Number.POSITIVE_INFINITY;
  const join = (client: Socket): void => {
    const server = connect(port(), '127.0.0.1');
    let isCutting = false;
    const end = (): void => {
      for (const socket of [client, server]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, server]) sockets.add(socket.on('close', end).on('error', end));
    client.on('data', (bytes) => {
      // only a batch holds these bytes
      if (bytes.includes('"created_at":') && cutsIn-- === 0) {
        cutsIn = Number.POSITIVE_INFINITY;
        isCutting = true;
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (isCutting) end();
      else client.write(bytes);
    });
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const listening = await listen(createServer(join));
  closeLater(cut);
  const cutInCommit = (others = 0): void => {
    cutsIn = others;
  };
  return { port: listening, cut, cutInCommit };
}

/** Asserts that instances answer random questions alike, names of snapshots included. */
export async function assertSame(
  instances: readonly Asking[],
  seed: number,
  questions: number,
  sequence: number,
): Promise<void> {
  const random = new Random(seed, 'point');
  const headers = { 'Waypost-At-Least': String(sequence) };
  for (let asked = 0; asked < questions; asked++) {
    const path = pathOf(random);
    const [first, ...others] = await Promise.all(
      instances.map((one) => one.get(path, { headers: { ...headers, Host: 'fleet.example' } })),
    );
    assert.ok([200, 404].includes(first!.status), `${path}: ${first!.status} ${first!.text}`);
    const headersOf = ({ headers }: Reply) => HEADERS.map((name) => [name, headers[name]]);
    for (const other of others) {
      assert.equal(headersOf(other), headersOf(first!), path);
      assert.ok(first!.body.equals(other.body), `${path}: ${first!.text}\n${other.text}`);
    }
  }
}

function pathOf(random: Random): string {
  const at = `${(random.int(1_700) - 850) / 10},${(random.int(3_500) - 1_750) / 10}`;
  const ordering = random.pick(['created_at', '-created_at', '-modified_at']);
  return random.pick([
    `${LIST}?page_size=${1 + random.int(100)}&ordering=${ordering}`,
    `${LIST}?coordinates=${at},${1_000 * random.int(5_000)}&page_size=20`,
    `${LIST}?page=${1 + random.int(5)}&page_size=7&format=geojson`,
    `${LIST}${1 + random.int(300)}/`,
    `${LIST}?ordering=${ordering}&fields=id,comment`,
  ]);
}

export class Instances {
  /** Stopped after each test. */
  readonly running: Pick<Service, 'stop'>[] = [];
  readonly #test: Test;
  #database: Database | undefined;

  constructor(test: Test) {
    this.#test = test;
    if (POSTGRES === undefined) {
      console.log('skipped: what a fleet does: there is no PostgreSQL here');
      return;
    }
    test.before(async () => {
      this.#database = await startDatabase();
    });
    test.after.each(() => this.stop());
  }

  get database(): Database {
    return this.#database!;
  }

  /** Adds a test that begins with an empty database at an address. */
  check(name: string, run: (address: string) => Promise<void>): void {
    this.checkOn(name, async () => {
      await this.database.empty();
      await run(this.database.address());
    });
  }

  /** Adds a test that goes on with the database of the one before. */
  checkOn(name: string, run: Callback): void {
    if (POSTGRES !== undefined) this.#test(name, run);
  }

  /** Starts an instance that is stopped after the test. */
  async start(...given: Parameters<typeof startInstance>): Promise<OwnService> {
    const service = await startInstance(...given);
    this.running.push(service);
    return service;
  }

  async stop(): Promise<void> {
    for (const one of this.running.splice(0).reverse()) await one.stop();
  }
}

export function startInstance(
  path: string,
  address: string,
  ...flags: string[]
): Promise<OwnService> {
  const limits = ['--settle', '0', '--log-level', 'debug'];
  return startOwnService(['--snapshot', path, '--journal', address, ...limits, ...flags]);
}

/** The path of a snapshot file with one note. */
export function snapshot(): string {
  const path = join(makeFolder(), 'notes.ndjson');
  write(path, FIRST_NOTE);
  return path;
}

/** Writes a snapshot whose time is the same for the same records: the digest depends on it. */
export function write(path: string, records: string): void {
  writeAged(path, 1_700_000_000 + records.length, records);
}

/** The comments of all points, sorted; each is the key of a post. */
export async function keysIn(service: Asking, sequence: number): Promise<string[]> {
  const headers = { 'Waypost-At-Least': String(sequence) };
  const reply = await service.get(`${LIST}?page_size=1000`, { headers });
  assert.is(reply.status, 200, reply.text);
  const { results } = reply.json<{ results: { comment: string }[] }>();
  return results.flatMap(({ comment }) => comment || []).sort();
}
