import type { paginateListObjectsV2, S3 } from '@aws-sdk/client-s3';
import { InputError } from '../model/quote.js';

/** A bucket of S3 or of a compatible store, and what an address names in it. */
interface Bucket {
  readonly client: S3;
  readonly name: string;
  /** A key, or a prefix of keys. */
  readonly path: string;
  readonly paginate: typeof paginateListObjectsV2;
}

const PACKAGE = '@aws-sdk/client-s3';
const CONNECTION_MS = 5_000;

export function isBucket(address: string): boolean {
  return /^s3:\/\//i.test(address);
}

/**
 * Opens `s3://bucket/path`, without a request, by the SDK's environment variables. Throws an
 * InputError where the SDK is not installed or the address is malformed.
 */
export async function openBucket(address: string): Promise<Bucket> {
  const [, name, path] = /^s3:\/\/([^/]+)\/(.*)$/i.exec(address) ?? [];
  if (name === undefined || path === undefined) {
    throw new InputError(`${address}: expected s3://bucket/key, or s3://bucket/prefix/`);
  }
  const sdk = await import(PACKAGE as '@aws-sdk/client-s3').catch((cause: unknown) => {
    const command = `npm install --save-prod --omit=dev ${PACKAGE}`;
    const cure = `to use buckets, install their client: ${command} in the folder of the service`;
    throw new InputError(`${address}: ${cure}, or --global beside a global one`, { cause });
  });
  const { AWS_ENDPOINT_URL: any, AWS_ENDPOINT_URL_S3: own } = process.env;
  const client = new sdk.S3({
    // other vendors do not resolve host names with a bucket
    forcePathStyle: (own ?? any) !== undefined,
    requestHandler: { connectionTimeout: CONNECTION_MS },
  });
  return { client, name, path, paginate: sdk.paginateListObjectsV2 };
}

/** The HTTP status of a store's error; undefined where the store did not answer. */
export function storeStatus(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
