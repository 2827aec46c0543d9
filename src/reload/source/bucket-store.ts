import type { Readable } from 'node:stream';
import type { _Object } from '@aws-sdk/client-s3';
import { openBucket, storeStatus } from '../../formats/bucket.js';
import { CHECKSUM_SUFFIX } from '../../formats/snapshot.js';
import { InputError } from '../../model/quote.js';
import { Changed, isSnapshotName, type RemoteFile, type Store, startOf } from './source.js';

/** Newest objects below a prefix that are candidates. */
const NEWEST = 32;
/** Statuses about the object, not about the store: there is nothing to be had. */
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
  const { client, name: Bucket, path, paginate } = await openBucket(address);
  const nameOf = (key: string): string => `s3://${Bucket}/${key}`;

  async function ask<T>(key: string, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof Changed) throw error;
      const { name, message } = error as Error;
      const status = storeStatus(error);
      // an answer to HEAD has no text
      const said = message === 'UnknownError' ? name : message;
      const what = status === undefined ? 'cannot be fetched' : `the store answers ${status}`;
      const reason = `${nameOf(key)}: ${what}: ${said}`;
      throw new (ABSENT.has(status) ? InputError : Error)(reason, { cause: error });
    }
  }

  async function head(Key: string, abortSignal: AbortSignal): Promise<Listed> {
    return { ...(await ask(Key, client.headObject({ Bucket, Key }, { abortSignal }))), Key };
  }

  /** All objects below the prefix, whose keys have no slash behind it. */
  async function listAll(abortSignal: AbortSignal): Promise<readonly Listed[]> {
    const found: Listed[] = [];
    const asked = { Bucket, Prefix: path, Delimiter: '/' };
    for await (const { Contents = [] } of paginate({ client }, asked, { abortSignal })) {
      found.push(...Contents);
    }
    return found;
  }

  function textOf(Key: string, abortSignal: AbortSignal): Promise<string> {
    const answer = client.getObject({ Bucket, Key }, { abortSignal });
    const text = answer.then(({ Body }) => startOf(Body as Readable));
    return ask(Key, text);
  }

  function fileOf(
    { Key: key = '', ETag: etag, LastModified }: Listed,
    checksum?: Listed,
  ): ObjectFile {
    const modifiedAt = LastModified?.getTime() ?? 0;
    const own = `${key} ${etag} ${modifiedAt}+${checksum?.ETag ?? ''}`;
    const file = { path: nameOf(key), own, modifiedAt, key, etag };
    if (checksum === undefined) return file;
    return { ...file, checksum: (signal) => textOf(`${key}${CHECKSUM_SUFFIX}`, signal) };
  }

  return {
    name: address,

    async list(signal) {
      if (path !== '' && !path.endsWith('/')) {
        const object = await head(path, signal);
        const checksum = head(`${path}${CHECKSUM_SUFFIX}`, signal).catch((error) => {
          if (error instanceof InputError) return undefined;
          throw error;
        });
        return [fileOf(object, await checksum)];
      }
      const all = await ask(path, listAll(signal));
      const objects = new Map(all.map((one) => [one.Key ?? '', one]));
      const files = all
        // an empty object of the prefix's own name is what consoles call a folder
        .filter(({ Key = '' }) => Key !== path && isSnapshotName(Key.slice(path.length)))
        .map((one) => fileOf(one, objects.get(`${one.Key}${CHECKSUM_SUFFIX}`)))
        .sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? 1 : -1));
      if (files.length > 0) return files.slice(0, NEWEST);
      throw new InputError(`${address}: there is no object here that can be a snapshot`);
    },

    async read(file, from, abortSignal) {
      const { key, etag } = file as ObjectFile;
      const range = from > 0 ? { Range: `bytes=${from}-` } : {};
      const given = { Bucket, Key: key, ...(etag && { IfMatch: etag }), ...range };
      const answer = client.getObject(given, { abortSignal }).catch((error) => {
        const status = storeStatus(error);
        throw status === 412 || status === 416 ? new Changed(file) : error;
      });
      const { Body, ContentRange, ContentLength, ETag } = await ask(key, answer);
      // in Node it is a stream
      const body = Body as Readable;
      if (ETag !== etag) {
        // not every store knows If-Match
        body.destroy();
        throw new Changed(file);
      }
      const whole = ContentRange?.split('/')[1];
      if (whole === undefined) return { from: 0, size: ContentLength, body };
      return { from, size: Number(whole), body };
    },
  };
}
