import { gzipSync } from 'node:zlib';
import type { Random } from '../../src/cli/generate/random.js';
import { requestBytes } from '../generators/answers.js';
import { LIST } from '../places.js';
import type { Attacking } from './sockets.js';

export interface Target extends Attacking {
  /** The folder that the service watches. */
  readonly folder: string;
  readonly random: Random;
  /** Points that are served. */
  readonly points: number;
}

/** One way to harm a service. It ends when its signal fires, and leaves nothing open. */
export interface Attack {
  readonly name: string;
  readonly title: string;
  /** Flags that the service is started with. */
  readonly flags?: readonly string[];
  /** Whether the service accepts posts, behind a proxy; ordinary clients then post, too. */
  readonly isPosting?: boolean;
  /** Makes files before the measurement, since that takes long. */
  readonly prepare?: () => Promise<void>;
  /** Whether nobody reads the service's log during the attack. */
  readonly isLogUnread?: boolean;
  /** Whether the attacker keeps its normal priority, and competes with the service for the CPU. */
  readonly isAtNormalPriority?: boolean;
  run(target: Target): Promise<void>;
}

const ORDERINGS = ['created_at', '-created_at', 'modified_at', '-modified_at'] as const;
const YEARS = [2019, 2020, 2021, 2022, 2023] as const;
const PACKET_BYTES = 65_536;

/** A circle beyond 160 degrees of arc, in any order, at any page. */
export function circleQuery({ random, points }: Target): string {
  const lat = random.between(-80, 80).toFixed(6);
  const lon = random.between(-180, 180).toFixed(6);
  const radius = random.between(17_800_000, 20_003_000).toFixed(2);
  const ordering = random.chance(0.5) ? `&ordering=${random.pick(ORDERINGS)}` : '';
  const window = random.chance(0.5)
    ? `&modified_at_after=${random.pick(YEARS)}-03-01T00:00:00Z`
    : '';
  const page = 1 + random.int(Math.max(1, points / 500));
  return `coordinates=${lat},${lon},${radius}${ordering}${window}&page=${page}`;
}

/** A page of 1,000 of a long list: of a time window, of a circle and a window, or of all points. */
export function deepQuery({ random, points }: Target): string {
  const field = random.chance(0.5) ? 'created_at' : 'modified_at';
  const year = random.pick(YEARS);
  const window = `${field}_after=${year}-01-01T00:00:00Z&${field}_before=${year + 2}-03-01T00:00:00Z`;
  const page = `page_size=1000&page=${1 + random.int(Math.max(1, points / 4_000))}`;
  const kind = random.int(3);
  if (kind === 0) return `${window}&ordering=${random.pick(ORDERINGS)}&${page}`;
  if (kind === 1) return `coordinates=60,25,9000000&${window}&${page}`;
  return `ordering=${random.pick(ORDERINGS)}&${page}`;
}

/** As many requests as fit into {@link PACKET_BYTES}. */
export function packetOf(next: () => Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const request = next();
    bytes += request.length;
    if (bytes > PACKET_BYTES) return Buffer.concat(parts);
    parts.push(request);
  }
}

/** Requests that are refused, each for another reason. */
export const REFUSED: readonly Buffer[] = [
  requestBytes('/nothing/here/'),
  requestBytes(`${LIST}0/`),
  requestBytes(`${LIST}?page=999999999999`),
  requestBytes(`${LIST}?format=xml`),
  requestBytes(`${LIST}?bbox=1,2,3&coordinates=${'1'.repeat(10_000)},1,1&ordering=id&page_size=x`),
  requestBytes(`${LIST}?created_at_after=${'+'.repeat(10_000)}`),
  requestBytes(`${LIST}`, `Accept: ${Array.from({ length: 1_000 }, (_, i) => `a/${i}`)}\r\n`),
  requestBytes(`${LIST}`, 'Authorization: Token unknown\r\n'),
  requestBytes(`${LIST}`, '', 'DELETE'),
  requestBytes('/rest/', '', 'TRACE'),
  requestBytes('/admin/reload', '', 'POST'),
];

/** Broken snapshots, each in another way. */
export function junkFiles(): readonly (readonly [suffix: string, content: Buffer])[] {
  const record = '{"id":1,"lat":60,"lon":24,"created_at":"2023-05-01T12:00:00Z"}\n';
  const blanks = `id,lat,lon,created_at,tags\n1,60,24,2023-05-01T12:00:00Z,"{a,${' '.repeat(200_000)}{}"\n`;
  const manyColumns = Array.from({ length: 20_000 }, (_, i) => `c${i}`).join(',');
  return [
    ['ndjson', Buffer.from(record.repeat(2_000))],
    ['json', Buffer.from('['.repeat(100_000))],
    ['csv', Buffer.from(blanks)],
    ['csv', Buffer.from(`${manyColumns}\n${'1,'.repeat(20_000)}\n`)],
    ['ndjson.gz', gzipSync(Buffer.alloc(5_000_000, 0x0a))],
    ['ndjson.gz', gzipSync(Buffer.from(record.repeat(50_000))).subarray(0, 2_000)],
    ['waypost', Buffer.from('WAYPOST\0and then nothing that fits')],
    ['msgpack', Buffer.alloc(100_000, 0x91)],
  ];
}
