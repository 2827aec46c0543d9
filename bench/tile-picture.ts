import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import sharp from 'sharp';
import { EXTENT } from '../src/tiles/mercator.js';
import { filtersWithin } from '../src/tiles/query.js';
import { makeTile } from '../src/tiles/tile.js';
import { loadEngine } from './query.js';
import { nativeFile } from './support/data.js';
import { plainCommand, positive, runMain, say } from './support/run.js';
import { digits } from './support/table.js';
import { type Address, GRID, onSquare } from './tiles/cases.js';

type Ring = readonly (readonly [lon: number, lat: number])[];

const ROOT = join(import.meta.dirname, '../..');
const OUT = join(ROOT, 'docs/images/tiles.png');
/** Pixels along the edge of a tile, between two of them, and of the line above each. */
const SIDE = 400;
const GAP = 8;
const CAPTION = 24;
/** The world, the north of Europe, the south-west of Finland, some streets of Helsinki. */
const SHOWN: readonly Address[] = [
  { z: 0, x: 0, y: 0 },
  { z: 3, x: 4, y: 2 },
  { z: 6, x: 36, y: 18 },
  { z: 17, x: 74617, y: 37937 },
];

const command = plainCommand('tile-picture', 'Draws tiles at four zooms, side by side, as a PNG.')
  .option('--points <number>', 'how many points', positive, 1_000_000)
  .option('--out <file>', 'where the picture goes', OUT);

/** Entry: makes the tiles, then the picture. */
async function main(): Promise<void> {
  command.parse();
  const { points, out } = command.opts<{ points: number; out: string }>();
  const engine = await loadEngine(await nativeFile(points));
  const land = readLand();
  const panels = SHOWN.map((address, i) => {
    const tile = makeTile(engine, { address, filters: filtersWithin(address, {}), grid: GRID });
    const left = (i % 2) * (SIDE + GAP);
    const top = Math.floor(i / 2) * (SIDE + CAPTION + GAP);
    return `<g transform="translate(${left},${top})">${panel(address, tile, land)}</g>`;
  });
  const size = `width="${2 * SIDE + GAP}" height="${2 * (SIDE + CAPTION) + GAP}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>${panels.join('')}</svg>`;
  mkdirSync(dirname(out), { recursive: true });
  await sharp(Buffer.from(svg)).png({ palette: true, colours: 64 }).toFile(out);
  say(`written: ${out}`);
}

/** A tile and the line above it. */
function panel(address: Address, bytes: Uint8Array, land: readonly Ring[]): string {
  const { clusters, points } = new VectorTile(new PbfReader(bytes)).layers;
  const marks: string[] = [];
  for (let i = 0; i < (clusters?.length ?? 0); i++) {
    const feature = clusters!.feature(i);
    const [x, y] = pixels(feature.loadGeometry()[0]![0]!);
    const { point_count: count, point_count_abbreviated: text } = feature.properties;
    const radius = (4 + 2 * Math.log10(Number(count))).toFixed(1);
    marks.push(
      `<circle cx="${x}" cy="${y}" r="${radius}" fill="#1d4ed8" fill-opacity="0.8"/>`,
      `<text x="${x}" y="${y}" dy="2.6" font-size="7.5" text-anchor="middle" fill="#fff">${text}</text>`,
    );
  }
  for (let i = 0; i < (points?.length ?? 0); i++) {
    const [x, y] = pixels(points!.feature(i).loadGeometry()[0]![0]!);
    marks.push(`<circle cx="${x}" cy="${y}" r="2.5" fill="#c2410c"/>`);
  }
  const counts = `${clusters?.length ?? 0} clusters, ${points?.length ?? 0} single points`;
  return (
    `<text x="2" y="16" font-size="13" fill="#111">zoom ${address.z}: ${counts}, ${digits(bytes.length)} bytes</text>` +
    `<svg y="${CAPTION}" width="${SIDE}" height="${SIDE}"><rect width="100%" height="100%" fill="#dbeafe"/>` +
    `<path d="${outline(address, land)}" fill="#f5f5f0" stroke="#a8a29e" stroke-width="0.6"/>${marks.join('')}</svg>`
  );
}

function pixels({ x, y }: { x: number; y: number }): readonly [x: string, y: string] {
  return [((x / EXTENT) * SIDE).toFixed(1), ((y / EXTENT) * SIDE).toFixed(1)];
}

/** Land as a path; coarser than the tiles of deep zooms, where it is left out. */
function outline({ z, x, y }: Address, land: readonly Ring[]): string {
  if (z > 8) return `M0,0H${SIDE}V${SIDE}H0Z`;
  const place = ([lon, lat]: Ring[number]): string => {
    const [, py] = onSquare(0, Math.max(-85.06, Math.min(lat, 85.06)));
    const px = (lon + 180) / 360;
    return [px * 2 ** z - x, py * 2 ** z - y].map((tiles) => (tiles * SIDE).toFixed(1)).join();
  };
  return land.map((ring) => `M${ring.map(place).join('L')}Z`).join('');
}

/** The outlines of land. */
function readLand(): Ring[] {
  const { geometry } = JSON.parse(readFileSync(join(ROOT, 'assets/land.json'), 'utf8')) as {
    geometry: { coordinates: Ring[][] };
  };
  return geometry.coordinates.flat();
}

await runMain(import.meta, main);
