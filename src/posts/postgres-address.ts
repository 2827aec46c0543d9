import { readFileSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../model/quote.js';

/** One server of a database. */
export interface Host {
  readonly host: string;
  readonly port: number;
}

/** Where a database is, and who asks. */
export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  readonly database: string;
  readonly user: string;
  /** As the client library takes it; false for none. */
  readonly tls: false | 'prefer' | 'require' | 'verify-full';
  /** Reads the password for a host. Throws an InputError. */
  readonly password: (host: Host) => string;
  /** The address without who asks: what logs and errors may say. */
  readonly name: string;
}

const PORT = 5432;
const EXPECTED =
  'expected an address such as postgres://user@host/database or postgres://user@a,b:5433/database?sslmode=verify-full';
/** What may stand behind the question mark: what hosts there are is asked of all of them anyway. */
const PARAMETERS = ['sslmode', 'target_session_attrs'];
const TLS_MODES = {
  disable: false,
  prefer: 'prefer',
  require: 'require',
  'verify-full': 'verify-full',
} as const;

/** Whether a journal is a database rather than a file. */
export function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/**
 * Reads the address of a database. What it leaves out comes from `PGUSER`, `PGDATABASE`,
 * `PGSSLMODE`, `PGPASSWORD` and the file of `PGPASSFILE`. Throws an InputError that does not repeat
 * the address, which may have a password.
 */
export function parseDatabaseAddress(
  text: string,
  environment: NodeJS.ProcessEnv = process.env,
): DatabaseAddress {
  const [, authority = '', path = '', query = ''] =
    /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const [user = '', ...secret] = authority.slice(0, Math.max(0, at)).split(':');
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map(parseHost);
  const parameters = new URLSearchParams(query);
  const strange = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (strange !== undefined) throw new InputError(`--journal: ${strange} is unknown: ${EXPECTED}`);
  const asked = decoded(user) || environment['PGUSER'] || userInfo().username;
  const database = decoded(path) || environment['PGDATABASE'] || asked;
  const mode = parameters.get('sslmode') ?? environment['PGSSLMODE'] ?? 'prefer';
  if (!Object.hasOwn(TLS_MODES, mode)) {
    throw new InputError(`--journal: sslmode is one of ${Object.keys(TLS_MODES).join(', ')}`);
  }
  const given = decoded(secret.join(':')) || environment['PGPASSWORD'];
  const file = environment['PGPASSFILE'] || join(homedir(), '.pgpass');
  return {
    hosts,
    database,
    user: asked,
    tls: TLS_MODES[mode as keyof typeof TLS_MODES],
    password: (host) => given ?? passwordIn(file, host, database, asked) ?? '',
    name: `postgres://${hosts.map(({ host, port }) => `${host}:${port}`).join()}/${database}`,
  };
}

function parseHost(text: string): Host {
  const [, host = '', port = PORT] =
    /^(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === '') throw new InputError(`--journal: ${EXPECTED}`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InputError(`--journal: ${EXPECTED}`);
  }
}

/** The password of the first line of a password file that fits: `host:port:database:user:password`. */
function passwordIn(
  file: string,
  { host, port }: Host,
  database: string,
  user: string,
): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if ((stat.mode & 0o077) !== 0) {
    throw new InputError(`${file}: others may read it, so it is not used: chmod 600`);
  }
  const wanted = [host, String(port), database, user];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.startsWith('#')) continue;
    const fields = line.match(/(?:\\.|[^:\\])+/g)?.map((field) => field.replace(/\\(.)/g, '$1'));
    if (fields?.length !== wanted.length + 1) continue;
    if (wanted.every((one, i) => fields[i] === '*' || fields[i] === one)) return fields.at(-1);
  }
  return undefined;
}
