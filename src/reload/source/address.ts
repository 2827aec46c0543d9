import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { removeLeftovers, temporaryIn } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import { stateIfAny } from './local.js';
import type { Source, Tell } from './source.js';
import { CHECKSUM_SUFFIX, Changed, type RemoteFile, type Store } from './source.js';

export interface AddressOptions {
  /** `http://…`, `https://…`, `s3://bucket/key` or `s3://bucket/prefix/`. */
  readonly address: string;
  /** A local file that is read with every snapshot. */
  readonly companion?: string | undefined;
  /** The folder that snapshots are downloaded to, made where there is none. */
  readonly folder: string;
  readonly mode: 'events' | 'poll' | 'off';
  /** How often to ask. */
  readonly pollMs: number;
  /** How long a server may say nothing until the connection counts as broken. */
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;

/**
 * Snapshots from an address. Each is downloaded to a file of the folder, checked there as any file
 * is, and removed once it is built. A download that breaks off goes on where it was. Throws an
 * InputError for an address that cannot be used.
 */
export async function openAddressSource(options: AddressOptions): Promise<Source> {
  const { address, companion, folder, mode, pollMs, idleMs = IDLE_MS } = options;
  const store: Store = address.startsWith('s3:')
    ? await (await import('./bucket-store.js')).bucketStore(address)
    : new (await import('./web-store.js')).WebStore(address);
  await mkdir(folder, { recursive: true });
  removeLeftovers(folder);

  return {
    name: store.name,
    async list() {
      const candidates = await store.list(AbortSignal.timeout(idleMs));
      const beside = companion === undefined ? undefined : await stateIfAny(companion);
      return { candidates, companion: beside?.identity ?? '' };
    },
    async open(candidate, tell) {
      const file = candidate as RemoteFile;
      const path = temporaryIn(folder);
      const besidePath = `${path}${CHECKSUM_SUFFIX}`;
      const close = async (): Promise<void> => {
        for (const one of [path, besidePath]) await rm(one, { force: true });
      };
      try {
        await download({ store, file, path, tell, idleMs });
        const checksum = await file.checksum?.();
        if (checksum !== undefined) await writeFile(besidePath, checksum);
        const checksumPath = checksum === undefined ? undefined : besidePath;
        // what was downloaded is whole, whatever is there by now
        const state = async () => 'same' as const;
        return { path, checksumPath, exportedAt: file.modifiedAt, state, close };
      } catch (error) {
        await close();
        throw error;
      }
    },
    watch(onChange) {
      const timer = mode === 'off' ? undefined : setInterval(onChange, pollMs).unref();
      return async () => {
        clearInterval(timer);
        store.close?.();
      };
    },
  };
}

/** What is on its way to a file of this machine. */
interface Transfer {
  readonly store: Store;
  readonly file: RemoteFile;
  readonly path: string;
  readonly tell: Tell;
  readonly idleMs: number;
}

/** Downloads a file; goes on where it broke off as long as each try brings something. */
async function download(transfer: Transfer): Promise<void> {
  for (let has = 0; ; ) {
    try {
      return await downloadRest(transfer, has);
    } catch (error) {
      const size = await sizeOf(transfer.path);
      if (error instanceof Changed || error instanceof InputError || size <= has) throw error;
      has = size;
    }
  }
}

/** Downloads what is behind `has` bytes. Throws where the connection breaks off, or falls silent. */
async function downloadRest(
  { store, file, path, tell, idleMs }: Transfer,
  has: number,
): Promise<void> {
  const idle = new AbortController();
  const timer = setTimeout(() => {
    idle.abort(new Error(`${file.path}: the server said nothing for ${idleMs / 1000} s`));
  }, idleMs);
  try {
    const { from, size, body } = await store.read(file, has, idle.signal);
    if (from < has) await truncate(path, from);
    let bytes = from;
    await pipeline(
      async function* count() {
        for await (const chunk of body) {
          timer.refresh();
          bytes += chunk.length;
          tell(bytes, size ?? bytes);
          yield chunk;
        }
      },
      createWriteStream(path, { flags: 'a' }),
      { signal: idle.signal },
    );
    if (size !== undefined && bytes !== size) {
      throw new Error(`${file.path}: the connection broke off at byte ${bytes} of ${size}`);
    }
  } catch (error) {
    throw idle.signal.aborted ? idle.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Bytes of a file; 0 where there is none. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
