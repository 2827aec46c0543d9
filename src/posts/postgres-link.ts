import postgres, { type Sql } from 'postgres';
import { InputError } from '../model/quote.js';
import { inTime } from '../model/turns.js';
import type { DatabaseAddress, Host } from './postgres-address.js';

/** How long a connection may take to open, in seconds. */
const CONNECT_S = 4;
/** How long anything but a batch may take, in milliseconds. */
const PATIENCE_MS = 5_000;
/** Connections that read, beside the one that writes. */
const READERS = 2;
/** Reads go along an index, also before there are statistics, and wait for no standby. */
const READING = {
  ...{ enable_seqscan: 'off', enable_bitmapscan: 'off', enable_sort: 'off' },
  synchronous_commit: 'local',
};
const PREPARED = { prepare: true };
/** Classes of SQLSTATE of errors that last until somebody changes something. */
const LASTING = ['28', '3D', '42', '0A'];

export type SqlValue = string | number;

/** It is unknown whether a statement was committed, or on how many servers. */
export class Uncertain extends Error {
  override readonly name = 'Uncertain';
}

/** The server refused a statement; nothing of it stays. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** The SQLSTATE, which tells no names. */
  readonly code: string;
  readonly isLasting: boolean;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
    this.isLasting = LASTING.some((one) => code.startsWith(one));
  }
}

/**
 * The connections to the one server that takes writes; once one of them is lost, all are. Columns
 * of rows have names like `lastSequence`, and their whole numbers are numbers.
 */
export interface Link {
  /** Counts the failovers of the database. */
  readonly timeline: number;
  /**
   * Runs a statement that changes something, and resolves when it is on stable storage, on as many
   * servers as the database was told. Rejects with {@link Uncertain} or {@link Refused}.
   */
  write<Row>(
    statement: string,
    values: readonly SqlValue[],
    patienceMs?: number,
  ): Promise<readonly Row[]>;
  /** Rejects with {@link Uncertain} or {@link Refused}. */
  read<Row>(statement: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  listen(channel: string, callback: () => void): Promise<void>;
  /** Runs with the connection that writes. */
  makeTables(work: (sql: Sql) => Promise<void>): Promise<void>;
  /** Resolves when the connections are lost or closed. */
  readonly lost: Promise<void>;
  close(): void;
}

/**
 * Connects to the server that takes writes; where several do, to the one of the highest timeline,
 * which is `leastTimeline` or more. Rejects with {@link Refused} or {@link Uncertain}.
 */
export async function connect(address: DatabaseAddress, leastTimeline: number): Promise<Link> {
  const asked = await Promise.allSettled(address.hosts.map((host) => open(address, host)));
  const found = asked.flatMap((one) => (one.status === 'fulfilled' && one.value) || []);
  const [best, ...others] = found.sort((a, b) => b.timeline - a.timeline);
  for (const { close } of others) close();
  if (best === undefined) {
    const failed = asked.find((one) => one.status === 'rejected');
    throw failed?.reason ?? new Uncertain('none of its servers takes writes');
  }
  if (best.timeline >= leastTimeline) return best;
  best.close();
  throw new Uncertain(
    `the server that answers is of timeline ${best.timeline}, and ${leastTimeline} was seen: an old primary is not followed`,
  );
}

/** Asks what a server is, and has commits wait for stable storage where they would not. */
const ASK = `SELECT
  pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS reads_only,
  CASE WHEN pg_is_in_recovery() THEN '0' ELSE pg_walfile_name(pg_current_wal_lsn()) END AS wal,
  CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', false) END`;

async function open(address: DatabaseAddress, host: Host): Promise<Link | undefined> {
  let isOpen = false;
  let isLost = false;
  let warnings = 0;
  let onLost = (): void => {};
  const lost = new Promise<void>((resolve) => {
    onLost = resolve;
  });
  const common = { ...optionsOf(address, host), onclose: close };
  const writer = postgres({
    ...common,
    max: 1,
    onnotice: ({ severity }) => {
      // such as that a wait for a standby was cancelled
      if (severity === 'WARNING') warnings++;
    },
  });
  // connects at its first question
  const reader = postgres({
    ...common,
    max: READERS,
    connection: { ...common.connection, ...READING },
  });

  function close(): void {
    if (isLost) return;
    isLost = true;
    for (const sql of [writer, reader]) void sql.end({ timeout: 0 }).catch(() => {});
    onLost();
  }

  async function run<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    if (isLost) throw new Uncertain('the connection to the database is lost');
    try {
      return await inTime(patienceMs, work(), () => new Uncertain('the database does not answer'));
    } catch (error) {
      const failure = failureOf(error, isOpen ? false : address.tls);
      if (failure instanceof Uncertain) close();
      throw failure;
    }
  }

  try {
    const [row] = await run(PATIENCE_MS, () => writer.unsafe(ASK));
    isOpen = true;
    if (row!['readsOnly'] === true) return void close();
    return {
      timeline: Number.parseInt(String(row!['wal']).slice(0, 8), 16),
      lost,
      close,
      read: <Row>(statement: string, values: readonly SqlValue[] = []) =>
        run(PATIENCE_MS, () => reader.unsafe<(Row & object)[]>(statement, [...values], PREPARED)),
      async write<Row>(statement: string, values: readonly SqlValue[], patienceMs = PATIENCE_MS) {
        const before = warnings;
        const rows = await run(patienceMs, () =>
          writer.unsafe<(Row & object)[]>(statement, [...values], PREPARED),
        );
        if (warnings > before) throw new Uncertain('a standby did not confirm');
        return rows;
      },
      listen: (channel, back) => run(PATIENCE_MS, () => reader.listen(channel, back).then()),
      makeTables: (work) => run(PATIENCE_MS * 6, () => work(writer)),
    };
  } catch (error) {
    close();
    throw error;
  }
}

function optionsOf(
  { database, user, tls, password }: DatabaseAddress,
  host: Host,
): postgres.Options<Record<string, never>> & { connection: { application_name: string } } {
  return {
    host: host.host,
    port: host.port,
    database,
    username: user,
    password,
    ssl: tls,
    connect_timeout: CONNECT_S,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    transform: { column: postgres.toCamel },
    onnotice: () => {},
    connection: {
      application_name: 'waypost',
      // batches wait for each other; stricter levels refuse those that waited
      default_transaction_isolation: 'read committed',
      // a server waits for a lock on behalf of a client that has left, and keeps the connection
      lock_timeout: PATIENCE_MS,
      // before version 18 plans without their usual ways cost enough to be compiled, each time
      jit: 'off',
      // tells of a wait for a standby that was cancelled
      client_min_messages: 'warning',
    },
  } as never;
}

const TRUST = '; NODE_EXTRA_CA_CERTS names a file of certificates to trust';
const NO_TLS = ': does the server speak TLS? Without it, only sslmode=disable and prefer connect';

type ServerError = NodeJS.ErrnoException & { readonly severity?: string };

/**
 * The failure for an error of the library, whose texts may quote what was sent; `tls` is what the
 * address asks for, while the connection is opened.
 */
function failureOf(error: unknown, tls: DatabaseAddress['tls']): Error {
  if (error instanceof Uncertain || error instanceof InputError) return error;
  const { name, code = '', message, severity } = error as ServerError;
  const says = `the database says: ${message}`;
  // the server shuts down or takes no writes any more, or a lock was held for too long
  const isLeaving = code.startsWith('57') || code === '25006' || code === '55P03';
  const refused = new Refused(says, code);
  if (refused.isLasting || (severity === 'ERROR' && !isLeaving)) return refused;
  // errors of a pooler have no severity
  if (name === 'PostgresError') return new Uncertain(says);
  const isUntrusted = /CERT|ISSUER|SIGNATURE/.test(code);
  const demandsTls = tls === 'require' || tls === 'verify-full';
  // a server without TLS is asked to begin it all the same, and hangs up
  const hangsUp = demandsTls && /RESET|EPIPE|CLOSED|SSL/.test(code);
  const reason = isUntrusted ? message + TRUST : (code || message) + (hangsUp ? NO_TLS : '');
  return new Uncertain(`the connection to the database failed: ${reason}`);
}
