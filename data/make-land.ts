import { createRequire } from 'node:module';
import type Topology from 'world-atlas/land-110m.json';

/*
 * Prints assets/land.json: `node dist/data/make-land.js > assets/land.json` after a build. The
 * outlines come from Natural Earth (https://www.naturalearthdata.com), which is in the public
 * domain, by way of the npm package world-atlas. The file is committed, so that neither the build
 * nor the service needs the package.
 */

type Position = [lon: number, lat: number];

/** Decimals of a degree: a kilometre, a tenth of what the outlines leave out. */
const DECIMALS = 2;

const topology: typeof Topology = createRequire(import.meta.url)('world-atlas/land-110m.json');
const { scale, translate } = topology.transform;

const lines = topology.arcs.map((steps) => {
  let [x, y] = [0, 0];
  return steps.map(([dx, dy]): Position => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
});

/** A ring without its jumps from one edge of the map to the other: longitudes go on beyond 180. */
function ringOf(indexes: readonly number[]): Position[] {
  const jumping = indexes.flatMap((index, at) => {
    const line = index < 0 ? lines[~index]!.toReversed() : lines[index]!;
    // lines share their ends
    return line.slice(at === 0 ? 0 : 1);
  });
  const ring: Position[] = [];
  for (const [lon, lat] of jumping) {
    const previous = ring.at(-1)?.[0] ?? lon;
    ring.push([lon + 360 * Math.round((previous - lon) / 360), lat]);
  }
  const [first, last] = [ring[0]!, ring.at(-1)!];
  // a ring round a pole ends where it began, a world further: the edge of the map closes it
  if (Math.abs(last[0] - first[0]) > 1) {
    const pole = first[1] < 0 ? -90 : 90;
    ring.push([last[0], pole], [first[0], pole], first);
  }
  return ring.map(([lon, lat]) => [rounded(lon), rounded(lat)]);
}

function rounded(degrees: number): number {
  return Number(degrees.toFixed(DECIMALS));
}

const [{ arcs }] = topology.objects.land.geometries;
const coordinates = arcs.map((polygon) => polygon.map(ringOf));
const geometry = { type: 'MultiPolygon', coordinates };
process.stdout.write(`${JSON.stringify({ type: 'Feature', properties: {}, geometry })}\n`);
