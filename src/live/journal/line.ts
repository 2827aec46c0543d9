import { crc32 } from 'node:zlib';
import { type Point, readPoint, renderPoint } from '../../model/point.js';
import type { Microseconds } from '../../model/units.js';
import { isWhole } from '../../model/whole.js';
import type { NewPost, Post, PostKey, SpentKey } from './journal.js';

/** What docs/journal-format.md specifies. */
export const JOURNAL_VERSION = 1;

/** A longer line is damaged; the longest record that a snapshot takes fits in. */
export const MAX_LINE_BYTES: number = 512 * 1024;

/** The CRC-32 in hexadecimal and the blank behind it. */
const PREFIX_BYTES = 9;
const PREFIX = /^[0-9a-f]{8} $/;
/** Of UTF-8, for each unit of a text's length. */
const MOST_BYTES_A_CHARACTER = 3;
const MAX_KEY_LENGTH = 512;
// with blanks: the service puts the user before the client's own key
const KEY = /^[\x20-\x7e]+$/;
const SHA_256 = /^[0-9a-f]{64}$/;

/** What a file says when it is written anew, in its first line and behind its kept entries. */
export interface Head {
  readonly kind: 'head';
  /** Kept posts and kept keys between the two heads. */
  readonly posts: number;
  readonly keys: number;
  /** What the first post behind the kept entries is numbered. */
  readonly nextSequence: number;
  readonly nextId: number;
  readonly lastTime: Microseconds;
  /** Watermarks up to this one are those of another journal. */
  readonly foreign: number;
}

/** An entry of a journal: what one line says. */
export type Entry =
  | Head
  | { readonly kind: 'post'; readonly post: Post }
  | { readonly kind: 'key'; readonly key: SpentKey }
  /** All bytes before this line were on stable storage when it was written. */
  | { readonly kind: 'synced'; readonly bytes: number }
  /** The next post has this number, although there is none below it. */
  | { readonly kind: 'next'; readonly nextSequence: number; readonly foreign: number };

export function headLine({
  posts,
  keys,
  nextSequence,
  nextId,
  lastTime,
  foreign,
}: Omit<Head, 'kind'>): string {
  return line(
    `{"journal":"waypost","version":${JOURNAL_VERSION},"posts":${posts},"keys":${keys},"next_sequence":${nextSequence},"next_id":${nextId},"last_time":${lastTime},"foreign":${foreign}}`,
  );
}

/**
 * The line of a post; `record` is its point's JSON. Throws a RangeError when the line would be too
 * long to be read again.
 */
export function postLine(post: Post, record: string = renderPoint(post.point)): string {
  const { sequence, key, movedFrom } = post;
  let json = `{"sequence":${sequence},"point":${record}`;
  if (key !== undefined) json += `,"key":${JSON.stringify(key.name)},"body":"${key.body}"`;
  if (movedFrom !== undefined) json += `,"moved_from":${movedFrom}`;
  const text = line(`${json}}`);
  // nearly all are so short that their bytes need not be counted
  if (text.length * MOST_BYTES_A_CHARACTER <= MAX_LINE_BYTES) return text;
  if (Buffer.byteLength(text) <= MAX_LINE_BYTES) return text;
  throw new RangeError(`post ${sequence} would be a line of more than ${MAX_LINE_BYTES} bytes`);
}

/**
 * The lines of posts behind an entry that has the post before `expected`; where numbers are passed
 * over, that is because watermarks up to `foreign` are those of another journal. `rendered` has the
 * points' JSON of posts where it is there already.
 */
export function postLines(
  posts: readonly Post[],
  expected: number,
  foreign: number,
  rendered: readonly Pick<NewPost, 'record'>[] = [],
): string {
  let lines = '';
  let next = expected;
  for (let i = 0; i < posts.length; i++) {
    const post = posts[i]!;
    if (post.sequence !== next)
      lines += line(`{"next_sequence":${post.sequence},"foreign":${foreign}}`);
    lines += postLine(post, rendered[i]?.record);
    next = post.sequence + 1;
  }
  return lines;
}

export function keyLine({ name, body, record }: SpentKey): string {
  return line(`{"key":${JSON.stringify(name)},"body":"${body}","record":${record}}`);
}

export function syncedLine(bytes: number): string {
  return line(`{"synced":${bytes}}`);
}

/** Whether a key can be read again. */
export function isKey({ name, body }: PostKey): boolean {
  return name.length <= MAX_KEY_LENGTH && KEY.test(name) && SHA_256.test(body);
}

/** Reads a line without its end. Returns what is wrong with it as text when it is none. */
export function readLine(bytes: Buffer): Entry | string {
  if (bytes.length > MAX_LINE_BYTES) return `has more than ${MAX_LINE_BYTES} bytes`;
  const prefix = bytes.toString('latin1', 0, PREFIX_BYTES);
  if (!PREFIX.test(prefix)) return 'does not begin with a checksum of eight digits and a blank';
  const json = bytes.subarray(PREFIX_BYTES);
  const crc = checksum(json);
  if (!prefix.startsWith(crc)) {
    return `its checksum is ${crc}, but it says ${prefix.trimEnd()}`;
  }
  let value: unknown;
  try {
    value = JSON.parse(json.toString());
  } catch {
    return 'is no JSON behind its checksum';
  }
  if (typeof value !== 'object' || value === null) return 'is no JSON object behind its checksum';
  return entryOf(value as Fields) ?? 'is no entry that this version knows';
}

type Fields = Readonly<Record<string, unknown>>;

function line(json: string): string {
  return `${checksum(json)} ${json}\n`;
}

function checksum(json: string | Uint8Array): string {
  return crc32(json).toString(16).padStart(8, '0');
}

function entryOf(fields: Fields): Entry | undefined {
  if ('journal' in fields) return readHead(fields);
  if ('sequence' in fields) return readPost(fields);
  if ('record' in fields) return readKey(fields);
  const { synced, next_sequence: nextSequence, foreign } = fields;
  if (isWhole(synced, 0)) return { kind: 'synced', bytes: synced };
  if (!isWhole(nextSequence, 1) || !isWhole(foreign, 0)) return undefined;
  return { kind: 'next', nextSequence, foreign };
}

function readHead(fields: Fields): Head | undefined {
  const { journal, version, posts, keys, foreign } = fields;
  const { next_sequence: nextSequence, next_id: nextId, last_time: lastTime } = fields;
  if (journal !== 'waypost' || version !== JOURNAL_VERSION) return undefined;
  if (!isWhole(posts, 0) || !isWhole(keys, 0) || !isWhole(nextSequence, 1)) return undefined;
  if (!isWhole(nextId, 1) || !isWhole(lastTime, 0)) return undefined;
  if (!isWhole(foreign, 0)) return undefined;
  return { kind: 'head', posts, keys, nextSequence, nextId, lastTime, foreign };
}

function readPost({
  sequence,
  point,
  key,
  body,
  moved_from: movedFrom,
}: Fields): Entry | undefined {
  const read = recordOf(point);
  if (!isWhole(sequence, 1) || read === undefined) return undefined;
  if (movedFrom !== undefined && !isWhole(movedFrom, 1)) return undefined;
  const moved = movedFrom === undefined ? {} : { movedFrom };
  if (key === undefined) return { kind: 'post', post: { sequence, point: read, ...moved } };
  const spent = keyOf(key, body);
  if (spent === undefined) return undefined;
  return { kind: 'post', post: { sequence, point: read, key: spent, ...moved } };
}

function readKey({ key, body, record }: Fields): Entry | undefined {
  const spent = keyOf(key, body);
  const point = recordOf(record);
  if (spent === undefined || point === undefined) return undefined;
  return { kind: 'key', key: spentKey(spent, point) };
}

/** The key of a point as it was acknowledged. */
export function spentKey({ name, body }: PostKey, point: Point): SpentKey {
  const acceptedAt = Math.floor(point.createdAt.micros / 1000);
  return { name, body, acceptedAt, record: renderPoint(point) };
}

function keyOf(name: unknown, body: unknown): PostKey | undefined {
  if (typeof name !== 'string' || typeof body !== 'string') return undefined;
  return isKey({ name, body }) ? { name, body } : undefined;
}

function recordOf(value: unknown): Point | undefined {
  let isKnown = true;
  const point = readPoint(value, () => {
    isKnown = false;
  });
  return 'id' in point && isKnown ? point : undefined;
}
