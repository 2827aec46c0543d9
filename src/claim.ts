import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';

/** A socket that has no listener yet keeps its provisional name for less. */
const PROVISIONAL_MS = 60_000;
const PROVISIONAL = '.new';

/** The ownership of a file, until it is released or the process ends, however it ends. */
export interface Claim {
  release(): void;
}

/** A living process owns the file. */
export class Claimed extends Error {
  override readonly name = 'Claimed';
  /** The id of that process, in its own container. */
  readonly pid: string;

  constructor(path: string, pid: string) {
    super(`process ${pid} owns ${path}`);
    this.pid = pid;
  }
}

/**
 * Makes this process the one owner of a file. The claim is a socket beside the file that the
 * process listens on: whoever can connect to one knows that its owner lives, in whatever container
 * of this machine, and the system stops listening when the process ends. Two that claim at the same
 * moment may both be turned away, and never get the file both: each listens before it looks for
 * others.
 *
 * Throws {@link Claimed}, or what the system says where the folder takes no sockets.
 */
export async function claim(path: string): Promise<Claim> {
  const folder = dirname(path);
  const prefix = `.${basename(path)}.owner-`;
  const own = `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`;
  const server = await listen(folder, own);
  const release = (): void => {
    rmSync(join(folder, own), { force: true });
    server.close();
  };
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefix) || name === own) continue;
      const other = join(folder, name);
      if (await isListening(folder, name)) {
        throw new Claimed(path, name.slice(prefix.length).split('-', 1)[0]!);
      }
      if (!name.endsWith(PROVISIONAL) || isOld(other)) remove(other);
    }
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/** Gets its name once it listens, so that nobody takes it for one whose process has ended. */
async function listen(folder: string, name: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  // a claim keeps no process running that has nothing else to do
  server.unref();
  try {
    await within(folder, name + PROVISIONAL, async (socketPath) => {
      server.listen({ path: socketPath, writableAll: true });
      await once(server, 'listening');
    });
    renameSync(join(folder, name + PROVISIONAL), join(folder, name));
    return server;
  } catch (error) {
    server.close();
    throw error;
  }
}

async function isListening(folder: string, name: string): Promise<boolean> {
  return within(folder, name, async (path) => {
    const socket = connect(path);
    try {
      await once(socket, 'connect');
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // one that cannot be asked may be alive
      return code !== 'ECONNREFUSED' && code !== 'ENOENT';
    } finally {
      socket.destroy();
    }
  });
}

/** Gives a path of a socket that fits the 108 bytes that Linux has for it, however long it is. */
async function within<T>(
  folder: string,
  name: string,
  run: (path: string) => Promise<T>,
): Promise<T> {
  if (process.platform !== 'linux') return run(join(folder, name));
  const fd = openSync(folder, 'r');
  try {
    return await run(`/proc/self/fd/${fd}/${name}`);
  } finally {
    closeSync(fd);
  }
}

function isOld(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > PROVISIONAL_MS;
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // somebody else's to remove
  }
}
