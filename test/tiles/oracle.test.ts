import { Random } from '../../src/cli/generate/random.js';
import { KD_NODE_SIZE } from '../../src/formats/kd-order.js';
import { cutBlocks } from '../../src/index/blocks.js';
import { buildDataset } from '../../src/index/build-dataset.js';
import { assembleDataset } from '../../src/index/dataset.js';
import type { Filters } from '../../src/model/query.js';
import { Engine, type Hints } from '../../src/query/engine.js';
import { filtersWithin, type TileAddress, type TileQuery } from '../../src/tiles/grid.js';
import { makeTile } from '../../src/tiles/tile.js';
import { everyHint } from '../support/compare.js';
import { acceptedMatches, deltaOf, engineOf, Meter, readerOf } from '../support/engine.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { randomQuestion } from '../support/queries.js';
import * as tiles from '../support/tiles.js';
import { assert, IS_SOAK, rounds, test } from '../support/uvu.js';

const { cellOf, decodeTile, leastHashes, lineOf, onSquare, sortedIds } = tiles;
const SEED = 1_414;
const TILES = IS_SOAK ? 20_000 : 300;
const GRIDS = [4, 8, 16, 32, 64, 128];
const EXTENT = 4096;
/** A budget so small that tiles use up many. */
const LITTLE = 2_000;
const ACCEPTED = 40;
const NO_DELTA = 0;

const notes = [...scatterNotes(SEED, 3_000), ...borderNotes(1_000_000)];
const oracle = new Oracle(notes);
const frozen = notes.slice(0, -ACCEPTED);
const engine = await engineOf(frozen);
const delta = deltaOf(notes.slice(-ACCEPTED));

/** Notes on the borders of tiles and cells, a hair beside them, and at the edges of the world. */
function borderNotes(firstId: number): Note[] {
  const notes: Note[] = [];
  const hair = [-180 + 1e-8, 1e-8, -1e-8, 45 - 1e-8, 179.99999999];
  const lons = [...hair, -180, -90, -45, 0, 5.625, 22.5, 180];
  const lats = [-90, -85.05112878, -85.05112877, -1e-8, 0, 1e-8, 60, 85.05112877, 85.05112878, 90];
  for (const lon of lons) {
    for (const lat of lats) {
      const time = 1.6e15 + notes.length;
      notes.push({ id: firstId + notes.length, lon, lat, created: time, modified: time });
    }
  }
  return notes;
}

/** The notes in each cell of a tile, by a look at every note. */
function membersOf(
  matches: readonly Note[],
  { z, x, y }: TileAddress,
  grid: number,
): Map<number, Note[]> {
  const lines = 2 ** z * grid;
  const members = new Map<number, Note[]>();
  for (const note of matches) {
    const [east, south] = onSquare(note.lon, note.lat);
    const column = lineOf(east, lines) - x * grid;
    const row = lineOf(south, lines) - y * grid;
    if (column < 0 || column >= grid || row < 0 || row >= grid) continue;
    const cell = row * grid + column;
    const others = members.get(cell);
    if (others === undefined) members.set(cell, [note]);
    else others.push(note);
  }
  return members;
}

function assertTile(
  layers: tiles.Layers,
  members: Map<number, Note[]>,
  query: TileQuery,
  label: string,
) {
  const { grid, address } = query;
  const left = new Map(members);
  const assertPlace = (feature: { x: number; y: number }, notes: readonly Note[]): void => {
    const mean = (of: 'lon' | 'lat'): number =>
      notes.reduce((sum, note) => sum + note[of], 0) / notes.length;
    const [east, south] = onSquare(mean('lon'), mean('lat'));
    const x = Math.max(0, Math.min((east * 2 ** address.z - address.x) * EXTENT, EXTENT - 1));
    const y = Math.max(0, Math.min((south * 2 ** address.z - address.y) * EXTENT, EXTENT - 1));
    assert.ok(Math.abs(feature.x - x) <= 1.01, `${label}: x is ${feature.x}, not ${x}`);
    assert.ok(Math.abs(feature.y - y) <= 1.01, `${label}: y is ${feature.y}, not ${y}`);
  };
  for (const feature of layers['clusters'] ?? []) {
    const cell = cellOf(feature, grid);
    const notes = left.get(cell) ?? [];
    left.delete(cell);
    assert.ok(notes.length > 1, `${label}: a cluster of ${notes.length} in cell ${cell}`);
    assert.is(feature.properties['point_count'], notes.length, `${label}: cell ${cell}`);
    assertPlace(feature, notes);
  }
  for (const feature of layers['points'] ?? []) {
    const cell = cellOf(feature, grid);
    const [note, ...others] = left.get(cell) ?? [];
    left.delete(cell);
    assert.ok(note !== undefined && others.length === 0, `${label}: no single in cell ${cell}`);
    assert.is(feature.id, note!.id, label);
    const { id, status, is_processed, created_at } = feature.properties;
    const { status: wanted = 'NEW', isProcessed = false, created } = note!;
    const expected = [note!.id, wanted, isProcessed, Math.floor(created / 1e6)];
    assert.equal([id, status, is_processed, created_at], expected, label);
    assertPlace(feature, [note!]);
  }
  assert.is(left.size, 0, `${label}: ${left.size} cells are missing`);
}

function tileOf(asked: Engine, query: TileQuery, hints?: Hints, length = ACCEPTED): Uint8Array {
  const { filters } = query;
  const accepted = filters && acceptedMatches(delta, length, filters);
  const whole = makeTile(asked, query, accepted, hints);
  const again = makeTile(asked, query, accepted, hints, new Meter(LITTLE));
  assert.equal(Buffer.from(again), Buffer.from(whole));
  return whole;
}

/** A tile that has a note in it, four times of five, of any zoom. */
function randomAddress(random: Random): TileAddress {
  const z = random.int(23);
  const across = 2 ** z;
  if (random.chance(0.2)) return { z, x: random.int(across), y: random.int(across) };
  const { lon, lat } = random.pick(notes);
  const [east, south] = onSquare(lon, lat);
  return { z, x: lineOf(east, across), y: lineOf(south, across) };
}

function queryOf(address: TileAddress, filters: Filters, grid: number): TileQuery {
  return { address, filters: filtersWithin(address, filters), grid };
}

test(`${TILES} random tiles are what a look at every note makes of them, whatever is gone through`, () => {
  const random = new Random(SEED, 'point');
  for (let index = 0; index < TILES; index++) {
    const { filters } = index % 3 === 0 ? { filters: {} } : randomQuestion(SEED, index, notes);
    const address = randomAddress(random);
    const grid = random.pick(GRIDS);
    const query = queryOf(address, filters, grid);
    const label = `tile ${index}: ${JSON.stringify({ address, grid, filters })}`;
    const members = membersOf(oracle.find(filters, 'id').notes, address, grid);
    assertTile(decodeTile(tileOf(engine, query)), members, query, label);
    if (index % 20 > 0 || query.filters === undefined) continue;
    for (const { driver, accessPath } of everyHint(query.filters)) {
      if (accessPath !== 'walk' || driver === undefined) continue;
      const forced = decodeTile(
        makeTile(engine, query, acceptedMatches(delta, ACCEPTED, query.filters), { driver }),
      );
      assertTile(forced, members, query, `${label} by ${driver}`);
    }
  }
});

test('random tiles over many nodes of the index are what a look at every note makes of them', async () => {
  const random = new Random(SEED + 2, 'point');
  const many = scatterNotes(SEED + 2, 22_000);
  const asked = await manyNodes(many);
  const every = new Oracle(many);
  for (let index = 0; index < rounds(100); index++) {
    const { filters } = index % 2 === 0 ? { filters: {} } : randomQuestion(SEED, index, many);
    const z = random.int(6);
    const address = { z, x: random.int(2 ** z), y: random.int(2 ** z) };
    const query = queryOf(address, filters, random.pick(GRIDS));
    const label = `tile ${index}: ${JSON.stringify({ ...query, filters })}`;
    const matches = every.find(filters, 'id').notes;
    const clusters = decodeTile(tileOf(asked, query, undefined, NO_DELTA));
    assertTile(clusters, membersOf(matches, address, query.grid), query, label);

    const limit = 1 + random.int(500);
    const members = membersOf(matches, address, 1).get(0) ?? [];
    const { points = [] } = decodeTile(tileOf(asked, { ...query, limit }, undefined, NO_DELTA));
    const kept = leastHashes(members).slice(0, limit);
    assert.equal(sortedIds(points), sortedIds(kept), `${label}: ${limit}`);
  }
});

/** An engine whose blocks are as small as can be, so that few notes make several nodes of them. */
async function manyNodes(notes: readonly Note[]): Promise<Engine> {
  const parts = await buildDataset(readerOf(notes));
  const { coords } = assembleDataset(parts);
  const dataset = assembleDataset({ ...parts, blocks: cutBlocks(coords, KD_NODE_SIZE + 1) });
  assert.is(dataset.boxIndex.root.height, 2);
  return new Engine(dataset);
}

test('a point that is shown without clusters is shown in all deeper zooms', () => {
  const random = new Random(SEED + 1, 'point');
  for (let index = 0; index < 60; index++) {
    const { filters } = index % 3 === 0 ? { filters: {} } : randomQuestion(SEED, index, notes);
    const matches = oracle.find(filters, 'id').notes;
    const limit = random.pick([1, 7, 60, 400, 10_000]);
    const { lon, lat } = random.pick(notes);
    const [east, south] = onSquare(lon, lat);
    let shown: readonly number[] | undefined;
    for (let z = index % 8; z < 11; z++) {
      const [x, y] = [lineOf(east, 2 ** z), lineOf(south, 2 ** z)];
      const query = { ...queryOf({ z, x, y }, filters, 16), limit };
      const label = `${index}: ${JSON.stringify({ address: query.address, limit, filters })}`;
      const { points = [], meta = [] } = decodeTile(tileOf(engine, query));
      const members = membersOf(matches, query.address, 1).get(0) ?? [];
      const ids = points.map(({ id }) => id!);
      const kept = leastHashes(members).slice(0, limit);
      assert.equal(sortedIds(points), sortedIds(kept), label);
      const [about] = meta;
      const facts = [about?.properties['point_count'], about?.properties['left_out']];
      const left = members.length - kept.length;
      assert.equal(facts, members.length === 0 ? [undefined, undefined] : [members.length, left]);
      for (const note of members) {
        const isLost = shown?.includes(note.id) && !ids.includes(note.id);
        assert.not(isLost, `${label}: ${note.id} was shown before`);
      }
      shown = ids;
    }
  }
});

test.run();
