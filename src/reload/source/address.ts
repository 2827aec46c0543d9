import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { removeLeftovers, temporaryIn } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import { stateIfAny } from './file-state.js';
import { CHECKSUM_SUFFIX } from './names.js';
import type { Opening, Source } from './source.js';
import { Changed, type RemoteFile, type Store } from './store.js';

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
/** How often the progress is told. */
const PROGRESS_MS = 50;
/** How often a download goes on at once that brings nothing; later tries are the reloader's. */
const RESUMES = 5;

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
  /** What broke off, and may go on. */
  let begun: { readonly identity: string; readonly path: string } | undefined;

  async function download(file: RemoteFile, opening: Opening): Promise<string> {
    const { identity } = file;
    if (begun?.identity !== identity) {
      if (begun !== undefined) await rm(begun.path, { force: true });
      begun = { identity, path: temporaryIn(folder) };
    }
    const { path } = begun;
    let most = 0;
    for (let tries = 1; ; tries++) {
      try {
        await downloadRest(store, file, path, opening, idleMs);
        begun = undefined;
        return path;
      } catch (error) {
        const isFinal = error instanceof Changed || error instanceof InputError;
        if (opening.signal?.aborted || isFinal || tries > RESUMES) throw error;
        const size = await sizeOf(path);
        if (size > most) tries = 0;
        most = Math.max(most, size);
      }
    }
  }

  return {
    name: store.name,
    async list() {
      const candidates = await store.list(AbortSignal.timeout(idleMs));
      const beside = companion === undefined ? undefined : await stateIfAny(companion);
      return { candidates, companion: beside?.identity ?? '' };
    },
    async open(candidate, opening = {}) {
      const file = candidate as RemoteFile;
      const path = await download(file, opening);
      const checksum = await file.checksum?.();
      const checksumPath = checksum === undefined ? undefined : `${path}${CHECKSUM_SUFFIX}`;
      if (checksumPath !== undefined) await writeFile(checksumPath, checksum ?? '');
      return {
        path,
        checksumPath,
        exportedAt: file.modifiedAt,
        // what was downloaded is whole, whatever is there by now
        state: async () => 'same',
        async close() {
          await rm(path, { force: true });
          if (checksumPath !== undefined) await rm(checksumPath, { force: true });
        },
      };
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

/** Downloads what is still missing of a file. Throws where the connection breaks off. */
async function downloadRest(
  store: Store,
  file: RemoteFile,
  path: string,
  { signal, onProgress }: Opening,
  idleMs: number,
): Promise<void> {
  const has = await sizeOf(path);
  const idle = new AbortController();
  const timer = setTimeout(() => {
    idle.abort(new Error(`${file.path}: the server said nothing for ${idleMs / 1000} s`));
  }, idleMs);
  const signals = signal === undefined ? [idle.signal] : [idle.signal, signal];
  const either = AbortSignal.any(signals);
  try {
    const { from, size, body } = await store.read(file, has, either);
    let bytes = from;
    let toldAt = 0;
    if (from < has) await truncate(path, from);
    await pipeline(
      async function* count() {
        for await (const chunk of body) {
          timer.refresh();
          bytes += chunk.length;
          const now = performance.now();
          if (now - toldAt > PROGRESS_MS) onProgress?.(bytes, size ?? bytes);
          if (now - toldAt > PROGRESS_MS) toldAt = now;
          yield chunk;
        }
      },
      createWriteStream(path, { flags: 'a' }),
      { signal: either },
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
