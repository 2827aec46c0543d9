import type { _Object, paginateListObjectsV2, S3 } from '@aws-sdk/client-s3';
import { InputError } from '../model/quote.js';

/** A bucket of S3, or of a store that speaks like it, and what an address names in it. */
export interface Bucket {
  readonly client: S3;
  readonly name: string;
  /** What stands behind the bucket's name: a key, or a prefix of keys. */
  readonly path: string;
  readonly paginate: typeof paginateListObjectsV2;
}

const PACKAGE = '@aws-sdk/client-s3';
/** How long a store may take to take a connection. */
const CONNECTION_MS = 5_000;

/** Whether a setting names a bucket rather than a file or folder. */
export function isBucket(address: string): boolean {
  return address.startsWith('s3://');
}

/**
 * Opens `s3://bucket/path`, where the path may be empty. Region, credentials and endpoint are those
 * of the usual environment; nothing is asked yet. Throws an InputError where the client is not
 * installed or the address is none.
 */
export async function openBucket(address: string): Promise<Bucket> {
  const [, name, path] = /^s3:\/\/([^/]+)\/(.*)$/.exec(address) ?? [];
  if (name === undefined || path === undefined) {
    throw new InputError(`${address}: expected s3://bucket/key, or s3://bucket/prefix/`);
  }
  const sdk = await import(PACKAGE as '@aws-sdk/client-s3').catch((cause: unknown) => {
    const cure = `to use buckets, install their client: npm install ${PACKAGE}`;
    throw new InputError(`${address}: ${cure}`, { cause });
  });
  const { AWS_ENDPOINT_URL: any, AWS_ENDPOINT_URL_S3: own } = process.env;
  const client = new sdk.S3({
    // other vendors' names of hosts have no buckets
    forcePathStyle: (own ?? any) !== undefined,
    requestHandler: { connectionTimeout: CONNECTION_MS },
  });
  return { client, name, path, paginate: sdk.paginateListObjectsV2 };
}

/** All objects below a prefix; with a delimiter only those whose keys have none behind it. */
export async function listBucket(
  { client, name, paginate }: Bucket,
  prefix: string,
  delimiter: string | undefined,
  abortSignal: AbortSignal,
): Promise<readonly _Object[]> {
  const found: _Object[] = [];
  const asked = { Bucket: name, Prefix: prefix, Delimiter: delimiter };
  for await (const { Contents = [] } of paginate({ client }, asked, { abortSignal })) {
    found.push(...Contents);
  }
  return found;
}

/** The status that a store answered an error with; undefined where it did not answer. */
export function storeStatus(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
