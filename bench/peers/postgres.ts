import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { freePort } from '../../test/support/sockets.js';
import { say } from '../support/run.js';
import { temporaryFolder } from '../support/service.js';
import { isInstalled, type Row, rowBatches, startBackend } from './backend.js';
import { type Backend, Skipped } from './types.js';

const PACKAGED = '/usr/lib/postgresql';
const DATABASE = 'postgres';
const BATCH = 5000;

/** For a database that is read only and fits in memory. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '2GB',
  work_mem: '64MB',
  maintenance_work_mem: '512MB',
  max_wal_size: '8GB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  random_page_cost: '1.0',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/**
 * Starts a PostgreSQL of our own on a free port, which `fill` puts points into. Throws Skipped
 * where there is none.
 */
export async function startPostgres(fill: (sql: Sql) => Promise<void>): Promise<Backend> {
  const bin = findBinaries();
  if (bin === undefined) throw new Skipped('PostgreSQL is not installed');
  const user = unprivileged();
  const data = temporaryFolder('postgis');
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const init = ['-D', data, '-U', 'bench', '--auth=trust', '--no-sync', '-E', 'UTF8'];
  execFileSync(join(bin, 'initdb'), init, { stdio: 'ignore', cwd: '/', ...user });
  const port = await freePort();
  const settings = Object.entries(SETTINGS).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const args = ['-D', data, '-p', String(port), ...settings];
  const sql = connect(port);
  const isReady = async (): Promise<void> => void (await sql`SELECT 1`);
  const backend = await startBackend(join(bin, 'postgres'), args, port, isReady, user);
  await fill(sql);
  await sql.end();
  return backend;
}

/** A table of points: how it is made, filled and indexed. */
export interface PointTable {
  readonly schema: string;
  readonly insert: string;
  /** The parameters of `insert` of one row; the statement takes an array of each. */
  readonly valuesOf: (row: Row) => readonly (string | number)[];
  /** Statements separated by semicolons; each is sent alone, as VACUUM must be. */
  readonly indexes: string;
}

/** Fills a table with the points of an NDJSON file; throws Skipped without PostGIS. */
export async function fillTable(
  sql: Sql,
  ndjson: string,
  { schema, insert, valuesOf, indexes }: PointTable,
): Promise<void> {
  try {
    await sql`CREATE EXTENSION postgis`;
  } catch (error) {
    throw new Skipped(`PostGIS is not installed: ${(error as Error).message}`);
  }
  await sql.unsafe(schema);
  for await (const rows of rowBatches(ndjson, BATCH)) {
    const all = rows.map(valuesOf);
    const values = all[0]!.map((_, column) => all.map((one) => one[column]!));
    await sql.unsafe(insert, values, { prepare: true });
  }
  for (const statement of indexes.split(';')) await sql.unsafe(statement);
  say('PostGIS is filled');
}

/** Over `max` connections at most; statements of one text are prepared once a connection. */
export function connect(port: number, max = 1): Sql {
  const onnotice = (): void => {};
  return postgres({ host: '127.0.0.1', port, user: 'bench', database: DATABASE, max, onnotice });
}

/** The folder of `postgres` and `initdb`, which Debian keeps out of PATH. */
function findBinaries(): string | undefined {
  let versions: string[] = [];
  try {
    versions = readdirSync(PACKAGED).sort((a, b) => Number(b) - Number(a));
  } catch {
    // only Debian has this folder
  }
  const folders = [...versions.map((version) => join(PACKAGED, version, 'bin')), ''];
  return folders.find((folder) => isInstalled(join(folder, 'initdb')));
}

/**
 * The user to run PostgreSQL as, which refuses to run as root; undefined if this process is not
 * root's.
 */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim() || Number.NaN);
  const user = { uid: id('-u'), gid: id('-g') };
  if (Number.isNaN(user.uid)) throw new Skipped('PostgreSQL does not run as root');
  return user;
}
