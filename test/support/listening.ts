import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { processTree } from '../../bench/support/proc.js';
import { until } from './wait.js';

/** State of a socket that listens, in the table of the system. */
const LISTENS = '0A';

/**
 * The port of 127.0.0.1 that a process or one below it listens at, once it does: for services that are started with
 * port 0 and whose log nobody can read. Linux only.
 */
export async function listeningPort(pid: number): Promise<number> {
  let port: number | undefined;
  await until(`process ${pid} listens`, () => {
    const own = new Set(processTree(pid).flatMap(socketsOf));
    const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
    const rows = lines.map((line) => line.trim().split(/\s+/));
    const [, address] = rows.find((row) => row[3] === LISTENS && own.has(row[9])) ?? [];
    if (address !== undefined) port = Number.parseInt(address.split(':')[1]!, 16);
    return port !== undefined;
  });
  return port!;
}

/** The numbers of the sockets of a process; none of one that is gone. */
function socketsOf(pid: number): (string | undefined)[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => inodeOf(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}

/** The number of the socket that a descriptor stands for; undefined for what is none, or gone. */
function inodeOf(descriptor: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(descriptor))?.[1];
  } catch {
    return undefined;
  }
}
