import type { _Object } from '@aws-sdk/client-s3';
import { type Bucket, openBucket, storeStatus } from '../../formats/bucket.js';
import { InputError } from '../../model/quote.js';
import {
  CHECKSUM_SUFFIX,
  Changed,
  isSnapshotName,
  type RemoteFile,
  type RemotePart,
  type Store,
} from './source.js';

/** Newest objects below a prefix that are looked at: one of them is served. */
const NEWEST = 32;
/** Statuses that say that there is nothing to be had: about the object, not about the store. */
const ABSENT: ReadonlySet<number | undefined> = new Set([301, 401, 403, 404]);
type Listed = Pick<_Object, 'Key' | 'ETag' | 'LastModified'>;

interface ObjectFile extends RemoteFile {
  readonly key: string;
  readonly etag: string | undefined;
}

/**
 * The object at `s3://bucket/key`, or the newest ones below `s3://bucket/prefix/`. Throws as
 * {@link openBucket} does.
 */
export async function bucketStore(address: string): Promise<Store> {
  return new BucketStore(address, await openBucket(address));
}

class BucketStore implements Store {
  readonly name: string;
  readonly #client: Bucket['client'];
  readonly #bucket: string;
  readonly #path: string;

  constructor(address: string, { client, name, path }: Bucket) {
    this.name = address;
    this.#client = client;
    this.#bucket = name;
    this.#path = path;
  }

  async list(abortSignal: AbortSignal): Promise<readonly RemoteFile[]> {
    const path = this.#path;
    if (path !== '' && !path.endsWith('/')) {
      const object = await this.#head(path, abortSignal);
      const checksum = this.#head(`${path}${CHECKSUM_SUFFIX}`, abortSignal).catch((error) => {
        if (error instanceof InputError) return undefined;
        throw error;
      });
      return [this.#fileOf(object, await checksum)];
    }
    const objects = new Map((await this.#below(abortSignal)).map((one) => [one.Key ?? '', one]));
    const files = [...objects.values()]
      .filter(({ Key = '' }) => isSnapshotName(Key.slice(path.length)))
      .map((one) => this.#fileOf(one, objects.get(`${one.Key}${CHECKSUM_SUFFIX}`)))
      .sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? 1 : -1));
    if (files.length > 0) return files.slice(0, NEWEST);
    throw new InputError(`${this.name}: there is no object here that can be a snapshot`);
  }

  async read(file: RemoteFile, from: number, abortSignal: AbortSignal): Promise<RemotePart> {
    const { key, etag } = file as ObjectFile;
    const range = from > 0 ? { Range: `bytes=${from}-` } : {};
    const given = { Bucket: this.#bucket, Key: key, ...(etag && { IfMatch: etag }), ...range };
    const answer = this.#client.getObject(given, { abortSignal }).catch((error) => {
      const status = storeStatus(error);
      throw status === 412 || status === 416 ? new Changed(file) : error;
    });
    const { Body, ContentRange, ContentLength, ETag } = await this.#ask(key, answer);
    // not every store knows If-Match
    if (ETag !== etag) throw new Changed(file);
    // in Node it is a stream
    const body = Body as AsyncIterable<Uint8Array>;
    const whole = ContentRange?.split('/')[1];
    if (whole === undefined) return { from: 0, size: ContentLength, body };
    return { from, size: Number(whole), body };
  }

  close(): void {
    this.#client.destroy();
  }

  async #head(key: string, abortSignal: AbortSignal): Promise<Listed> {
    const answer = this.#client.headObject({ Bucket: this.#bucket, Key: key }, { abortSignal });
    return { ...(await this.#ask(key, answer)), Key: key };
  }

  /** The objects right below the prefix. */
  async #below(abortSignal: AbortSignal): Promise<Listed[]> {
    const found: Listed[] = [];
    const given = { Bucket: this.#bucket, Prefix: this.#path, Delimiter: '/' };
    for (let token: string | undefined = ''; token !== undefined; ) {
      const more: object = token === '' ? {} : { ContinuationToken: token };
      const answer = this.#client.listObjectsV2({ ...given, ...more }, { abortSignal });
      const page = await this.#ask(this.#path, answer);
      found.push(...(page.Contents ?? []));
      token = page.NextContinuationToken;
    }
    return found;
  }

  #fileOf({ Key: key = '', ETag: etag, LastModified }: Listed, checksum?: Listed): ObjectFile {
    const modifiedAt = LastModified?.getTime() ?? 0;
    const identity = `${key} ${etag} ${modifiedAt}+${checksum?.ETag ?? ''}`;
    const file = { path: this.#nameOf(key), identity, modifiedAt, key, etag };
    if (checksum === undefined) return file;
    return { ...file, checksum: () => this.#text(`${key}${CHECKSUM_SUFFIX}`) };
  }

  async #text(key: string): Promise<string> {
    const answer = this.#client.getObject({ Bucket: this.#bucket, Key: key });
    return (await (await this.#ask(key, answer)).Body?.transformToString()) ?? '';
  }

  async #ask<T>(key: string, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Changed) throw error;
      const { name, message } = error as Error;
      const status = storeStatus(error);
      const reason = `${this.#nameOf(key)}: the store answers ${status ?? name}: ${message}`;
      throw new (ABSENT.has(status) ? InputError : Error)(reason, { cause: error });
    }
  }

  #nameOf(key: string): string {
    return `s3://${this.#bucket}/${key}`;
  }
}
