import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { HeadObjectCommandOutput } from '@aws-sdk/client-s3';
import { openBucket, storeStatus } from '../../formats/bucket.js';
import { InputError } from '../../model/quote.js';
import { type ImageStore, MediaUnavailable } from './folder.js';

/** An image in a bucket. */
type FoundImage = Pick<HeadObjectCommandOutput, 'ContentLength' | 'ETag' | 'LastModified'>;

/** Images in a bucket, which several instances may share. */
export interface ImageBucket extends ImageStore {
  /** Rejects with a MediaUnavailable where the store does not answer. */
  find(id: string, name: string): Promise<FoundImage | undefined>;
  /**
   * Reads the bytes `from` up to, not including, `to`. Throws a MediaUnavailable where the store
   * does not send them all.
   */
  read(id: string, name: string, from: number, to: number, etag?: string): AsyncGenerator<Buffer>;
}

const REQUEST_MS = 10_000;
/** Bytes that are read at a time, and held of an image for a client that reads slowly. */
const PIECE_BYTES = 1024 * 1024;
/** Statuses of a bucket or key that is not there, or that may not be looked for. */
const ABSENT: ReadonlySet<number | undefined> = new Set([403, 404]);
const TYPES: Readonly<Record<string, string>> = { jpg: 'image/jpeg', png: 'image/png' };

const within = () => ({ abortSignal: AbortSignal.timeout(REQUEST_MS) });

/** Images below `s3://bucket/prefix`. Throws as {@link openBucket} does. */
export async function openImageBucket(address: string): Promise<ImageBucket> {
  const { client, name: Bucket, path } = await openBucket(folderOf(address));
  const imageKey = (id: string, name: string): string => `${path}map_data_points/${id}/${name}`;

  return {
    async put(file, id, name) {
      const image = { Bucket, Key: imageKey(id, name), ContentType: TYPES[name.slice(-3)] };
      const Body = await readFile(file);
      await client.putObject({ ...image, Body }, within()).catch(refuse);
    },

    async erase(id, name) {
      await client.deleteObject({ Bucket, Key: imageKey(id, name) }, within()).catch(refuse);
    },

    async find(id, name) {
      try {
        return await client.headObject({ Bucket, Key: imageKey(id, name) }, within());
      } catch (error) {
        return ABSENT.has(storeStatus(error)) ? undefined : refuse(error);
      }
    },

    async *read(id, name, from, to, etag) {
      // a request for each piece: a client that reads slowly holds no connection to the store
      for (let at = from; at < to; at += PIECE_BYTES) {
        const end = Math.min(at + PIECE_BYTES, to);
        const Range = `bytes=${at}-${end - 1}`;
        const given = { Bucket, Key: imageKey(id, name), Range, ...(etag && { IfMatch: etag }) };
        const answer = client.getObject(given, within());
        const piece = await answer.then(({ Body }) => buffer(Body as Readable)).catch(refuse);
        // the answer would not have the length that was announced
        if (piece.length !== end - at) refuse(`${piece.length} bytes of ${end - at}`);
        yield piece;
      }
    },
  };
}

/**
 * Asks whether a bucket may be read. Throws an InputError where it may not. Returns the reason
 * where the store does not answer: images can be had once it does.
 */
export async function checkImageBucket(address: string): Promise<string | undefined> {
  const { client, name: Bucket, path: Prefix } = await openBucket(folderOf(address));
  try {
    const asked = { Bucket, Prefix, MaxKeys: 1 };
    await client.listObjectsV2(asked, within());
    return undefined;
  } catch (error) {
    const status = storeStatus(error);
    if (status === undefined || status >= 500) return (error as Error).message;
    const cure = 'Check the name, the region and the credentials in the environment.';
    const reason = `the store answers ${status}: ${(error as Error).message}. ${cure}`;
    throw new InputError(`--media ${address}: ${reason}`, { cause: error });
  } finally {
    client.destroy();
  }
}

function folderOf(address: string): string {
  return address.endsWith('/') ? address : `${address}/`;
}

function refuse(error: unknown): never {
  const reason = storeStatus(error) ?? (error as NodeJS.ErrnoException).code ?? String(error);
  throw new MediaUnavailable(`the store of images cannot be asked (${reason})`, { cause: error });
}
