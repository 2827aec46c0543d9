import { userInfo } from 'node:os';
import { InputError } from '../model/quote.js';

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  readonly database: string;
  readonly user: string;
  /** As the client library takes it; false for none. */
  readonly tls: false | Exclude<(typeof TLS_MODES)[number], 'disable'>;
  readonly password: string;
  /** The address without user and password, for logs and errors. */
  readonly name: string;
}

const PORT = 5432;
const EXPECTED =
  'expected an address such as postgres://user@host/database or postgres://user@a,b:5433/database?sslmode=verify-full';
/** Parameters that are read, or need not be: all hosts are asked whether they take writes. */
const PARAMETERS = ['sslmode', 'target_session_attrs'];
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-full'] as const;

export function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/**
 * Reads the address of a database. What it leaves out comes from `PGUSER`, `PGDATABASE`,
 * `PGSSLMODE` and `PGPASSWORD`. Throws InputErrors without the address, which may have a password.
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
  const tls = TLS_MODES.find((one) => one === mode);
  if (tls === undefined) {
    throw new InputError(`--journal: sslmode is one of ${TLS_MODES.join(', ')}`);
  }
  return {
    hosts,
    database,
    user: asked,
    tls: tls !== 'disable' && tls,
    password: decoded(secret.join(':')) || environment['PGPASSWORD'] || '',
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
