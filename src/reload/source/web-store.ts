import { InputError } from '../../model/quote.js';
import {
  CHECKSUM_SUFFIX,
  Changed,
  type RemoteFile,
  type RemotePart,
  type Store,
} from './source.js';

/** Answers that say that there is nothing to be had: about the file, not about the server. */
const ABSENT: ReadonlySet<number> = new Set([401, 403, 404, 410]);
/** A checksum file has a line a file. */
const LONGEST_CHECKSUM = 64 * 1024;

interface WebFile extends RemoteFile {
  readonly tag: Tag;
}

/** What tells a file from the next at the same address, and the header that asks for another. */
interface Tag {
  readonly value: string;
  readonly asks: 'If-None-Match' | 'If-Modified-Since';
}

/** A snapshot at an http or https address, with its checksum file beside it. */
export class WebStore implements Store {
  /** Without a password, and without the signature of a query. */
  readonly name: string;
  readonly #url: URL;
  readonly #checksumUrl: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #last: { readonly tag: Tag; readonly modifiedAt: number } | undefined;

  /** Throws an InputError for an address that is none. */
  constructor(address: string) {
    if (!URL.canParse(address)) throw new InputError(`${address}: is no address`);
    const url = new URL(address);
    this.name = `${url.origin}${url.pathname}`;
    const userinfo = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    const basic = `Basic ${Buffer.from(userinfo).toString('base64')}`;
    this.#headers = {
      'Accept-Encoding': 'identity',
      ...(userinfo !== ':' && { Authorization: basic }),
    };
    url.username = '';
    url.password = '';
    this.#url = url;
    this.#checksumUrl = new URL(url);
    this.#checksumUrl.pathname += CHECKSUM_SUFFIX;
  }

  async list(signal: AbortSignal): Promise<readonly RemoteFile[]> {
    const last = this.#last?.tag;
    const response = await this.#get(this.#url, last && { [last.asks]: last.value }, signal);
    // a HEAD would be refused where addresses are signed for GET; the body is asked for again
    await response.body?.cancel();
    if (response.status !== 304 || this.#last === undefined) {
      if (!response.ok) throw this.#refusal(response);
      const modified = Date.parse(response.headers.get('Last-Modified') ?? '');
      this.#last = { tag: this.#tagOf(response), modifiedAt: modified || Date.now() };
    }
    const text = await this.#checksum(signal);
    const { tag, modifiedAt } = this.#last;
    const identity = `${tag.value}+${text ?? ''}`;
    const file: WebFile = { path: this.name, identity, modifiedAt, tag };
    return [text === undefined ? file : { ...file, checksum: async () => text }];
  }

  async read(file: RemoteFile, from: number, signal: AbortSignal): Promise<RemotePart> {
    const { tag } = file as WebFile;
    // a weak tag may stand for other bytes
    const isPart = from > 0 && !tag.value.startsWith('W/');
    const part = isPart ? { Range: `bytes=${from}-`, 'If-Range': tag.value } : undefined;
    const response = await this.#get(this.#url, part, signal);
    const { ok, status, headers, body } = response;
    const isSame = ok && this.#tagOf(response).value === tag.value;
    if (!isSame || body === null) {
      await body?.cancel();
      // 416: it is shorter now than what was read of it
      throw ok || status === 416 ? new Changed(file) : this.#refusal(response);
    }
    if (status === 206) {
      const range = headers.get('Content-Range') ?? '';
      const [, begin, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(range) ?? [];
      if (Number(begin) === from) return { from, size: Number(size), body };
      await body.cancel();
      throw new Error(`${this.name}: the server sends ${range || 'no range'}`);
    }
    // what is compressed on the way is longer than its length says
    const length = headers.has('Content-Encoding') ? null : headers.get('Content-Length');
    return { from: 0, size: length === null ? undefined : Number(length), body };
  }

  async #checksum(signal: AbortSignal): Promise<string | undefined> {
    const response = await this.#get(this.#checksumUrl, undefined, signal);
    if (response.ok) return readStart(response);
    await response.body?.cancel();
    if (ABSENT.has(response.status)) return undefined;
    throw this.#refusal(response);
  }

  async #get(
    url: URL,
    headers: Readonly<Record<string, string>> | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    try {
      return await fetch(url, { headers: { ...this.#headers, ...headers }, signal });
    } catch (error) {
      const { cause, message } = error as Error;
      const { message: reason, code } = (cause ?? {}) as NodeJS.ErrnoException;
      throw new Error(`${this.name}: cannot be fetched: ${reason || code || message}`, { cause });
    }
  }

  #refusal({ status, statusText }: Response): Error {
    const message = `${this.name}: the server answers ${status} ${statusText}`.trimEnd();
    return ABSENT.has(status) ? new InputError(message) : new Error(message);
  }

  #tagOf({ headers }: Response): Tag {
    const etag = headers.get('ETag');
    if (etag !== null) return { value: etag, asks: 'If-None-Match' };
    const modified = headers.get('Last-Modified');
    if (modified !== null) return { value: modified, asks: 'If-Modified-Since' };
    throw new InputError(
      `${this.name}: the server names neither ETag nor Last-Modified, which tell a new snapshot`,
    );
  }
}

/** The beginning of a text, as much as a checksum file may have. */
async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LONGEST_CHECKSUM) break;
  }
  return Buffer.concat(chunks).toString();
}
