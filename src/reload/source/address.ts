import { createWriteStream, rmSync } from 'node:fs';
import { mkdir, rm, stat, truncate, utimes } from 'node:fs/promises';
import { unescape as decode } from 'node:querystring';
import { pipeline } from 'node:stream/promises';
import { isBucket } from '../../formats/bucket.js';
import { CHECKSUM_SUFFIX, type Progress } from '../../formats/snapshot.js';
import { marksOf, removeLeftovers, temporaryIn, unwritable } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import { type LocalOptions, statIfAny } from './local.js';
import { Changed, type RemoteFile, type Source, type Store, startOf } from './source.js';

interface AddressOptions extends Pick<LocalOptions, 'companion' | 'mode' | 'pollMs'> {
  /** `http://…`, `https://…`, `s3://bucket/key` or `s3://bucket/prefix/`. */
  readonly address: string;
  /** The folder that snapshots are downloaded to, made where there is none. */
  readonly folder: string;
  /** How long a server may say nothing until the connection counts as broken. */
  readonly idleMs?: number;
}

const IDLE_MS = 30_000;
/** Codes of writes that fail at a connection, not at a file. */
const NETWORK: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Snapshots from an address. Each is downloaded to a file of the folder, checked there as any file
 * is, and removed once it is built. A download that breaks off goes on where it was. Throws an
 * InputError for an address that cannot be used.
 */
export async function openAddressSource(options: AddressOptions): Promise<Source> {
  const { address, companion, folder, mode, pollMs, idleMs = IDLE_MS } = options;
  const store: Store = isBucket(address)
    ? await (await import('./bucket-store.js')).bucketStore(address)
    : webStore(address);
  await mkdir(folder, { recursive: true }).catch((error) => {
    throw unwritable(folder, folder, error);
  });
  removeLeftovers(folder);

  return {
    name: store.name,
    isRemote: true,
    async list() {
      const files = await store.list(AbortSignal.timeout(idleMs));
      const beside = companion === undefined ? undefined : await statIfAny(companion);
      return files.map((one) => ({ ...one, identity: `${one.own}|${beside && marksOf(beside)}` }));
    },
    async open(candidate, tell) {
      const file: RemoteFile = candidate;
      const path = temporaryIn(folder, true);
      const removeAtExit = (): void => rmSync(path, { force: true });
      process.once('exit', removeAtExit);
      const close = async (): Promise<void> => {
        await rm(path, { force: true });
        process.off('exit', removeAtExit);
      };
      try {
        await download(store, file, path, tell, idleMs);
        // rows count as exported when their file was written
        await utimes(path, new Date(), new Date(file.modifiedAt));
        const checksum = await file.checksum?.(AbortSignal.timeout(idleMs));
        // what was downloaded is whole, whatever is there by now
        const state = async () => 'same' as const;
        return { path, checksum, state, close };
      } catch (error) {
        await close();
        const { syscall, code } = error as NodeJS.ErrnoException;
        const isOfFile = syscall === 'open' || (syscall === 'write' && !NETWORK.has(code));
        const told = isOfFile ? unwritable(folder, folder, error) : error;
        // what a server refuses now it may give later, unlike what is wrong in a file
        throw told instanceof InputError ? new Error(told.message) : told;
      }
    },
    watch(onChange) {
      const timer = mode === 'off' ? undefined : setInterval(onChange, pollMs).unref();
      return async () => clearInterval(timer);
    },
  };
}

/** Downloads a file; goes on where it broke off as long as each try brings something. */
async function download(
  store: Store,
  file: RemoteFile,
  path: string,
  tell: Progress,
  idleMs: number,
): Promise<void> {
  for (let has = 0; ; ) {
    try {
      return await downloadRest(has);
    } catch (error) {
      const size = (await stat(path).catch(() => undefined))?.size ?? 0;
      if (error instanceof Changed || error instanceof InputError || size <= has) throw error;
      has = size;
    }
  }

  /** Downloads what is behind `has` bytes. Throws where the connection breaks or falls silent. */
  async function downloadRest(has: number): Promise<void> {
    const idle = new AbortController();
    const timer = setTimeout(() => {
      idle.abort(new Error(`${file.path}: the server said nothing for ${idleMs / 1000} s`));
    }, idleMs);
    try {
      const { from, size, body } = await store.read(file, has, idle.signal);
      if (from < has) await truncate(path, from);
      let bytes = from;
      const brokenOff = (cause?: unknown): Error =>
        new Error(`${file.path}: the connection broke off at byte ${bytes} of ${size ?? 'all'}`, {
          cause,
        });
      await pipeline(
        async function* count() {
          try {
            for await (const chunk of body) {
              timer.refresh();
              bytes += chunk.length;
              tell(bytes, size ?? bytes);
              yield chunk;
            }
          } catch (error) {
            throw brokenOff(error);
          }
        },
        createWriteStream(path, { flags: 'a' }),
        { signal: idle.signal },
      );
      if (size !== undefined && bytes !== size) throw brokenOff();
    } catch (error) {
      throw idle.signal.aborted ? idle.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Statuses about the file, not about the server: there is nothing to be had. */
const ABSENT: ReadonlySet<number> = new Set([401, 403, 404, 410]);
/** A file that is new at more looks in a row would never settle: it is refused. */
const MOST_CHANGES = 5;

interface WebFile extends RemoteFile {
  /** Its ETag or else its Last-Modified. */
  readonly tag: string;
  readonly etag: string | null;
}

/** A snapshot on the web and its checksum file. Throws an InputError for what is no address. */
function webStore(address: string): Store {
  if (!URL.canParse(address)) {
    const shown = address.replace(/(?<=\/\/).*@|\?.*/g, '');
    throw new InputError(`${shown}: is no address`);
  }
  const url = new URL(address);
  // messages show neither a password nor the signature in a query
  const name = `${url.origin}${decode(url.pathname)}`;
  const always: Readonly<Record<string, string>> = {
    'Accept-Encoding': 'identity',
    ...credentialsOf(url),
  };
  Object.assign(url, { username: '', password: '' });
  const checksumUrl = new URL(url);
  checksumUrl.pathname += CHECKSUM_SUFFIX;
  let last: WebFile | undefined;
  /** Looks in a row that found another file than the one before. */
  let changes = 0;
  let isCoded = false;

  function get(from: URL, signal: AbortSignal, headers = {}, method = 'GET'): Promise<Response> {
    return fetch(from, { method, headers: { ...always, ...headers }, signal }).catch(unfetched);
  }

  /** Asks for another file than the last one. */
  async function ask(signal: AbortSignal): Promise<Response> {
    if (last?.etag === null) {
      // If-Modified-Since would hide an older file that took its place
      const answer = await get(url, signal, {}, 'HEAD');
      const isTold = ['Last-Modified', 'Content-Length'].every((one) => answer.headers.has(one));
      if (answer.ok && isTold) return answer;
    }
    // HEAD may be refused, such as where addresses are signed for GET; the body is asked for again
    const answer = await get(url, signal, last?.etag ? { 'If-None-Match': last.etag } : {});
    await answer.body?.cancel();
    return answer;
  }

  function unfetched({ cause, message }: Error): never {
    const { message: reason, code } = (cause ?? {}) as NodeJS.ErrnoException;
    throw new Error(`${name}: cannot be fetched: ${reason || code || message}`, { cause });
  }

  async function checksum(signal: AbortSignal): Promise<string | undefined> {
    const response = await get(checksumUrl, signal);
    if (response.ok) return startOf(response.body).catch(unfetched);
    await response.body?.cancel();
    if (ABSENT.has(response.status)) return undefined;
    throw refusal(`${name}${CHECKSUM_SUFFIX}`, response);
  }

  return {
    name,

    async list(signal) {
      const response = await ask(signal);
      const before = last?.own;
      if (response.status !== 304 || last === undefined) {
        if (!response.ok) throw refusal(name, response);
        last = fileOf(name, response);
      }
      changes = last.own === before ? 0 : changes + 1;
      if (changes > MOST_CHANGES)
        throw new InputError(`${name}: each answer has another ETag or Last-Modified`);
      const text = await checksum(signal);
      const file: WebFile = { ...last, own: `${last.own}+${text ?? ''}` };
      return [text === undefined ? file : { ...file, checksum: async () => text }];
    },

    async read(file, from, signal) {
      const { tag, etag } = file as WebFile;
      // a weak tag, or a second, may stand for other bytes
      const isPart = from > 0 && etag !== null && !etag.startsWith('W/') && !isCoded;
      const part = isPart ? { Range: `bytes=${from}-`, 'If-Range': tag } : undefined;
      const response = await get(url, signal, part);
      const { ok, status, headers, body } = response;
      if (body === null || !ok || fileOf(name, response).tag !== tag) {
        await body?.cancel();
        // 416: the file is shorter now than what was read of it
        throw ok || status === 416 ? new Changed(file) : refusal(name, response);
      }
      if (status === 206) {
        const range = headers.get('Content-Range') ?? '';
        const [, begin, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(range) ?? [];
        if (Number(begin) === from) return { from, size: Number(size), body };
        await body.cancel();
        throw new Error(`${name}: the server sends ${range || 'no range'}`);
      }
      // what is compressed on the way is counted otherwise than the server does
      isCoded = headers.has('Content-Encoding');
      const length = isCoded ? null : headers.get('Content-Length');
      return { from: 0, size: length === null ? undefined : Number(length), body };
    },
  };
}

/** Name and password of an address, where a % may stand for itself. */
function credentialsOf({ username, password }: URL): Readonly<Record<string, string>> {
  const userinfo = `${decode(username)}:${decode(password)}`;
  if (userinfo === ':') return {};
  return { Authorization: `Basic ${Buffer.from(userinfo).toString('base64')}` };
}

function refusal(name: string, { status, statusText }: Response): Error {
  const message = `${name}: the server answers ${status} ${statusText}`.trimEnd();
  return ABSENT.has(status) ? new InputError(message) : new Error(message);
}

function fileOf(name: string, { headers }: Response): WebFile {
  const [etag, modified] = [headers.get('ETag'), headers.get('Last-Modified')];
  const tag = etag ?? modified;
  if (tag !== null) {
    const own = etag ?? `${tag} ${headers.get('Content-Length')}`;
    return { path: name, own, tag, etag, modifiedAt: Date.parse(modified ?? '') || Date.now() };
  }
  throw new InputError(
    `${name}: the server names neither ETag nor Last-Modified, which tell a new snapshot`,
  );
}
