import { once } from 'node:events';
import { Agent, type OutgoingHttpHeaders, request, type Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { ITEMS_PATH, NOTIFICATIONS_PATH, POINTS_PATH } from '../http/request/addresses.js';
import { parseJsonBody } from '../http/request/body.js';
import { readDraft } from '../http/request/post-fields.js';
import type { Dataset } from '../index/dataset.js';
import { southwards } from '../tiles/grid.js';
import { SOCKET_OPTIONS } from './listen.js';

/** Half edges of boxes, in degrees: a street, a district, a country. */
const HALF_EDGES = [0.01, 0.1, 2];
/** Spreads rows over the whole dataset: consecutive multiples of it lie far apart. */
const SCATTER = 2_654_435_761;
const POST = Buffer.from('{"lat":"60.17","lon":24.94,"comment":"Warm","tags":["up"]}');
const HEADERS: readonly OutgoingHttpHeaders[] = [{}, { 'Accept-Encoding': 'gzip' }];

/** How {@link warmUp} asks. */
export interface WarmUp {
  /** What requests have in their Host header. */
  readonly host: string;
  /** Milliseconds, after which it ends wherever it is. */
  readonly ms: number;
}

/**
 * Has this thread's web server answer a mix of all kinds of questions, always the same for the same
 * points, so that its code is compiled before the first client comes. They come over a socket of
 * their own at 127.0.0.1, as those of clients will. Posts are read and not sent: they would stay.
 */
export async function warmUp(
  server: Server,
  dataset: Dataset,
  { host, ms }: WarmUp,
): Promise<void> {
  if (ms === 0) return;
  const signal = AbortSignal.timeout(ms);
  const door = createServer(SOCKET_OPTIONS, (socket) => server.emit('connection', socket));
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let turn = 0; !signal.aborted; turn++) {
      readDraft(parseJsonBody(POST));
      for (const path of questionsOf(dataset, turn)) {
        const headers = { ...HEADERS[turn % HEADERS.length], host };
        const asked = request({ host: '127.0.0.1', port, path, headers, agent, signal });
        const [answer] = await once(asked.end(), 'response');
        await once(answer.resume(), 'end');
      }
    }
  } catch (error) {
    // the time was over while it waited
    if (!signal.aborted) throw error;
  } finally {
    agent.destroy();
    door.close();
    await once(door, 'close');
  }
}

/** One question of each kind, about the place of another point each turn. */
export function questionsOf({ coords, count, byId }: Dataset, turn: number): string[] {
  const row = count === 0 ? 0 : (turn * SCATTER) % count;
  const half = HALF_EDGES[turn % HALF_EDGES.length]!;
  const within = (edge: number, at = 0): number => Math.min(edge - half, Math.max(half - edge, at));
  const [lon, lat] = [within(180, coords[2 * row]), within(90, coords[2 * row + 1])];
  const box = [lon - half, lat - half, lon + half, lat + half].map((edge) => edge.toFixed(5));
  const bbox = `bbox=${box}`;
  const circle = `coordinates=${lat.toFixed(5)},${lon.toFixed(5)},${half * 40_000}`;
  const ring = `polygon=${box[0]},${box[1]};${box[2]},${box[1]};${box[2]},${box[3]}`;
  const since = `2023-01-0${1 + (turn % 9)}T00:00:00Z`;
  const zoom = turn % 15;
  const across = 2 ** zoom;
  // the poles are beyond the square
  const south = Math.max(0, Math.min(southwards(lat), 1 - 1e-9));
  const [x, y] = [((lon + 180) / 360) * across, south * across].map(Math.floor);
  return [
    `${POINTS_PATH}?${bbox}`,
    `${POINTS_PATH}?${circle}`,
    `${POINTS_PATH}?${bbox}&ordering=-created_at&page_size=20`,
    `${POINTS_PATH}?${circle}&is_processed=false&page_size=10`,
    `${POINTS_PATH}?${ring}&status=NEW&fields=id,lat,lon`,
    `${POINTS_PATH}?created_at_after=${since}&ordering=modified_at&page_size=10`,
    `${POINTS_PATH}?page=${1 + (turn % Math.max(1, Math.ceil(count / 100)))}`,
    `${POINTS_PATH}?${bbox}&format=geojson`,
    `${POINTS_PATH}?${circle}&format=api`,
    `${POINTS_PATH}?bbox=${turn}`,
    `${POINTS_PATH}${byId.keys[row] ?? 1}/`,
    `${ITEMS_PATH}?${bbox}&limit=20`,
    `/tiles/${zoom}/${x}/${y}.mvt`,
    `/tiles/${zoom}/${x}/${y}.mvt?has_image=false`,
    `${NOTIFICATIONS_PATH}?page_size=${1 + turn}`,
  ];
}
