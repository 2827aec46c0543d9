import { utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { S3 } from '@aws-sdk/client-s3';
import { makeFolder } from './folder.js';

interface S3Server {
  readonly middleware: ((
    context: { readonly method: string; readonly path: string; status: number; body: unknown },
    next: () => Promise<void>,
  ) => Promise<void>)[];
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: Readonly<Record<string, unknown>>,
) => S3Server;

/** A bucket of a real S3 server at 127.0.0.1, which stores it in a folder. */
interface TestBucket {
  readonly name: string;
  readonly client: S3;
  put(key: string, body: Buffer | string): Promise<void>;
  /** Sets the time of an object to 1970. */
  makeOld(key: string): void;
  /** All keys, sorted. */
  keys(): Promise<string[]>;
  /** Answers GETs of a key with a status, or never where that is 0. */
  refuse(key: string, status: number): void;
  /** Sends so many bytes of a key, in all its answers together, and no more. */
  stall(key: string, bytes: number): void;
  /** Ends what `refuse` and `stall` began. */
  allow(): void;
  /** Stops the server; `start` starts it again with the same objects. */
  stop(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
}

const KEY = 'S3RVER';
const BUCKET = 'waypost';

const never = (): Promise<never> => new Promise(() => {});

/** Starts a server with an empty bucket; sets the environment variables that S3 clients read. */
export async function startBucket(): Promise<TestBucket> {
  const directory = makeFolder();
  const configureBuckets = [{ name: BUCKET, configs: [] }];
  const options = { address: '127.0.0.1', silent: true, directory, configureBuckets };
  const refused = new Map<string, number>();
  const left = new Map<string, number>();
  const open = (port: number): S3Server => {
    const opened = new S3rver({ ...options, port });
    opened.middleware.unshift(async (context, next) => {
      const status = context.method === 'GET' ? refused.get(context.path) : undefined;
      if (status === 0) await never();
      if (status === undefined) await next();
      else context.status = status;
      if (context.method !== 'GET' || !left.has(context.path)) return;
      const whole = context.body as Readable;
      const firstBytes = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of whole) {
          const bytes = left.get(context.path) ?? 0;
          left.set(context.path, Math.max(0, bytes - chunk.length));
          if (bytes > 0) yield chunk.subarray(0, bytes);
          if (bytes < chunk.length) await never();
        }
      };
      context.body = Readable.from(firstBytes());
    });
    return opened;
  };
  let server: S3Server | undefined = open(0);
  const { port } = await server.run();
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'eu-north-1',
    AWS_ACCESS_KEY_ID: KEY,
    AWS_SECRET_ACCESS_KEY: KEY,
  };
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  const client = new S3({ forcePathStyle: true });
  const stop = async (): Promise<void> => {
    await server?.close();
    server = undefined;
  };
  return {
    name: BUCKET,
    client,
    async put(Key, Body) {
      await client.putObject({ Bucket: BUCKET, Key, Body });
    },
    makeOld: (key) => utimesSync(join(directory, BUCKET, `${key}._S3rver_object`), 1, 1),
    async keys() {
      const { Contents = [] } = await client.listObjectsV2({ Bucket: BUCKET });
      return Contents.map(({ Key = '' }) => Key).sort();
    },
    refuse: (key, status) => void refused.set(`/${BUCKET}/${key}`, status),
    stall: (key, bytes) => void left.set(`/${BUCKET}/${key}`, bytes),
    allow() {
      refused.clear();
      left.clear();
    },
    stop,
    async start() {
      server = open(port);
      await server.run();
    },
    async end() {
      client.destroy();
      await stop();
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
}
