import { createClient } from '@redis/client';
import { freePort } from '../../test/support/sockets.js';
import { say } from '../support/run.js';
import { isInstalled, rowBatches, startBackend } from './backend.js';
import { type Backend, PAGE_SIZE, type PeerStore, Skipped } from './types.js';

const KEY = 'points';
/** Redis keeps no points nearer to the poles. */
const MOST_LATITUDE = 85.05;
const BATCH = 1000;

/**
 * One round trip a page: search, count, the first hundred records. A box is sorted by id, as the
 * interface wants it; a circle comes nearest first. ARGV: kind, then lon, lat and the sizes in
 * metres.
 */
const PAGE_SCRIPT = `
local found
if ARGV[1] == 'box' then
  found = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[2], ARGV[3], 'BYBOX', ARGV[4], ARGV[5], 'm')
  table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end)
else
  found = redis.call('GEOSEARCH', KEYS[1], 'FROMLONLAT', ARGV[2], ARGV[3], 'BYRADIUS', ARGV[4], 'm', 'ASC')
end
local keys = {}
for i = 1, math.min(#found, ${PAGE_SIZE}) do keys[i] = 'p:' .. found[i] end
if #keys == 0 then return { '0', '' } end
return { tostring(#found), table.concat(redis.call('MGET', unpack(keys)), ',') }
`;

/** Starts a Redis of our own on a free port, in memory only, and fills it. */
export async function startRedis(ndjson: string): Promise<Backend> {
  if (!isInstalled('redis-server')) throw new Skipped('redis-server is not installed');
  const port = await freePort();
  const settings = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1'];
  const args = ['--port', String(port), ...settings, '--dir', '/tmp', '--daemonize', 'no'];
  const backend = await startBackend('redis-server', args, port, async () => {
    await (await connect(port)).close();
  });
  const client = await connect(port);
  for await (const rows of rowBatches(ndjson, BATCH)) {
    const kept = rows.filter(({ lat }) => Math.abs(lat) <= MOST_LATITUDE);
    const places = kept.flatMap(({ lon, lat, id }) => [String(lon), String(lat), String(id)]);
    const records = kept.flatMap(({ id, body }) => [`p:${id}`, body]);
    await Promise.all([
      client.sendCommand(['GEOADD', KEY, ...places]),
      client.sendCommand(['MSET', ...records]),
    ]);
  }
  await client.close();
  say('Redis is filled');
  return backend;
}

/** Answers from Redis; the client pipelines the commands of one turn of the event loop. */
export async function openRedis(port: number): Promise<PeerStore> {
  const client = await connect(port);
  const hash = (await client.sendCommand(['SCRIPT', 'LOAD', PAGE_SCRIPT])) as unknown as string;
  return {
    async page({ box, circle }) {
      const args = box === undefined ? circleArgs(circle!) : boxArgs(box);
      const reply = await client.sendCommand(['EVALSHA', hash, '1', KEY, ...args]);
      const [count, records] = reply as unknown as [string, string];
      return { count: Number(count), records };
    },
  };
}

function circleArgs({ lon, lat, radius }: { lon: number; lat: number; radius: number }): string[] {
  return ['circle', String(lon), String(lat), String(radius)];
}

/** Redis knows boxes in metres around a centre only: nearly the same for small ones. */
function boxArgs([west, south, east, north]: readonly [number, number, number, number]): string[] {
  const metres = 6_372_797.56 * (Math.PI / 180);
  const lat = (south + north) / 2;
  const width = (east - west) * metres * Math.cos((lat * Math.PI) / 180);
  const sizes = [width, (north - south) * metres];
  return ['box', String((west + east) / 2), String(lat), ...sizes.map(String)];
}

async function connect(port: number) {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  return client;
}
