import { Random } from '../src/cli/generate/random.js';

/** The list of points, on whatever serves it. */
export const LIST = '/rest/map_data_points/';

/** A place around which a box or a circle matches between 100 and 300 points. */
export interface Centre {
  readonly lat: number;
  readonly lon: number;
  /** Half the side of the box: in degrees of latitude, and of longitude. */
  readonly halfLat: number;
  readonly halfLon: number;
  /** Points in the box. */
  readonly count: number;
}

/** What scenarios need to know of the data that is served. */
export interface Places {
  readonly count: number;
  readonly centres: readonly Centre[];
  /** First and last created_at, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

interface ListPage {
  readonly count: number;
  readonly results: readonly { lat: string; lon: string; created_at: string }[];
}

const LEAST = 100;
const MOST = 300;
const WANTED = 180;
const TRIES = 10;
const IN_PARALLEL = 8;
const PAGE_SIZE = 100;

/** Random numbers for benches, from a stream apart from those that the points are made of. */
export function benchRandom(seed: number, stream: number): Random {
  const random = new Random(seed, 'other');
  random.restart(0x40000000 + stream);
  return random;
}

/**
 * Asks a server where its points lie, by a sample of pages, and how large a box around each must be
 * to hold some hundred points. Uses nothing but the interface, so it works against any server.
 */
export async function surveyPlaces(base: string, wanted: number, seed: number): Promise<Places> {
  const ask = (query: string): Promise<ListPage> => fetchList(`${base}${LIST}?${query}`);
  const random = benchRandom(seed, 1);
  const [oldest, newest] = await Promise.all([
    ask('ordering=created_at&page_size=1'),
    ask('ordering=-created_at&page_size=1'),
  ]);
  if (oldest.count === 0) throw new Error(`${base} serves no points.`);
  const queue = await samplePoints(ask, oldest.count, wanted, random);
  const centres: Centre[] = [];
  // half the height of the last box that fitted: the next one is often about as large
  let guess = 0.01;
  const work = async (): Promise<void> => {
    for (let point = queue.pop(); point !== undefined; point = queue.pop()) {
      const centre = await fitBox(ask, point, guess);
      if (centre === undefined) continue;
      guess = centre.halfLat;
      centres.push(centre);
    }
  };
  await Promise.all(Array.from({ length: IN_PARALLEL }, work));
  if (centres.length === 0) throw new Error(`No box on ${base} matches ${LEAST} to ${MOST}.`);
  // answers come in any order; the same seed must give the same requests
  centres.sort((a, b) => a.lat - b.lat || a.lon - b.lon);
  return {
    count: oldest.count,
    centres,
    first: Date.parse(oldest.results[0]!.created_at),
    last: Date.parse(newest.results[0]!.created_at),
  };
}

async function samplePoints(
  ask: (query: string) => Promise<ListPage>,
  count: number,
  wanted: number,
  random: Random,
): Promise<{ lat: number; lon: number }[]> {
  const pages = Math.max(1, Math.floor(count / PAGE_SIZE));
  const chosen = new Set<number>();
  for (let i = 0; i < Math.ceil(wanted / 50); i++) chosen.add(1 + random.int(pages));
  const points: { lat: number; lon: number }[] = [];
  for (const page of chosen) {
    const { results } = await ask(`page=${page}&page_size=${PAGE_SIZE}`);
    // boxes near the edges of the map would be clipped
    for (const one of results) {
      const point = { lat: Number(one.lat), lon: Number(one.lon) };
      if (Math.abs(point.lat) < 80 && Math.abs(point.lon) < 179) points.push(point);
    }
  }
  for (let i = points.length - 1; i > 0; i--) {
    const j = random.int(i + 1);
    [points[i], points[j]] = [points[j]!, points[i]!];
  }
  return points.slice(0, wanted);
}

/** Grows and shrinks a box until its count fits; undefined where many points share one place. */
async function fitBox(
  ask: (query: string) => Promise<ListPage>,
  { lat, lon }: { lat: number; lon: number },
  guess: number,
): Promise<Centre | undefined> {
  let half = guess;
  for (let i = 0; i < TRIES; i++) {
    const halfLon = half / Math.cos((lat * Math.PI) / 180);
    const { count } = await ask(`bbox=${boxText(lat, lon, half, halfLon)}&page_size=1`);
    if (count >= LEAST && count <= MOST) return { lat, lon, halfLat: half, halfLon, count };
    const step = count === 0 ? 8 : Math.sqrt(WANTED / count);
    half *= Math.min(8, Math.max(1 / 8, step));
    if (half > 9) return undefined;
  }
  return undefined;
}

/** A box as `bbox` takes it, with the six decimals that map clients send. */
export function boxText(lat: number, lon: number, halfLat: number, halfLon: number): string {
  const edges = [lon - halfLon, lat - halfLat, lon + halfLon, lat + halfLat];
  return edges.map((edge) => edge.toFixed(6)).join(',');
}

/** Rejects unless the answer is 200. */
async function fetchList(url: string): Promise<ListPage> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.slice(0, 200)}`);
  return JSON.parse(text) as ListPage;
}
