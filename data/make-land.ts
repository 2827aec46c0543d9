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

/** The rings that a ring falls into at the edges of the map, where longitudes jump. */
function ringsOf(indexes: readonly number[]): Position[][] {
  const jumping = indexes.flatMap((index, at) => {
    const line = index < 0 ? lines[~index]!.toReversed() : lines[index]!;
    // a line begins where the one before ends
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
  return [-360, 0, 360]
    .map((shift) => ring.map(([lon, lat]): Position => [lon + shift, lat]))
    .map((shifted) => cut(cut(shifted, -180, 1), 180, -1))
    .filter((part) => part.length > 3)
    .map((part) => part.map(([lon, lat]) => [rounded(lon), rounded(lat)]));
}

/** The part of a ring on one side of a meridian: east of it for 1, west for -1. */
function cut(ring: readonly Position[], meridian: number, side: 1 | -1): Position[] {
  const kept: Position[] = [];
  for (const [at, to] of ring.entries()) {
    const from = ring[at - 1] ?? to;
    const [before, after] = [side * (from[0] - meridian), side * (to[0] - meridian)];
    if (before * after < 0) {
      const share = before / (before - after);
      kept.push([meridian, from[1] + share * (to[1] - from[1])]);
    }
    if (after >= 0) kept.push(to);
  }
  const [first] = kept;
  if (first !== undefined && String(first) !== String(kept.at(-1))) kept.push(first);
  return kept;
}

function rounded(degrees: number): number {
  return Number(degrees.toFixed(DECIMALS));
}

const [{ arcs }] = topology.objects.land.geometries;
// holes lie in the largest part of a ring that is cut
const coordinates = arcs.flatMap(([outer, ...holes]) => {
  const [largest, ...others] = ringsOf(outer!).toSorted((a, b) => b.length - a.length);
  return [[largest, ...holes.flatMap(ringsOf)], ...others.map((ring) => [ring])];
});
const geometry = { type: 'MultiPolygon', coordinates };
process.stdout.write(`${JSON.stringify({ type: 'Feature', properties: {}, geometry })}\n`);
