import type { TailMatches } from '../dataset/tail.js';
import type { Filters } from '../model/query.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import { andThen, inStretches, type Step } from '../query/common/work.js';
import type { Engine, Hints } from '../query/engine.js';
import type { Suspended } from '../query/suspended.js';
import { abbreviate } from './abbreviate.js';
import { Cells } from './cells.js';
import { Points, writeProperties } from './facts.js';
import { fillCells } from './fill.js';
import { boxesWithin, boxOf, Grid, type TileAddress } from './grid.js';
import { LayerWriter } from './layer.js';
import { ProtobufWriter } from './protobuf.js';

/** What a tile shows. */
export interface TileQuery {
  readonly address: TileAddress;
  /** {@link filtersWithin} of the tile: undefined where nothing in it can match. */
  readonly filters: Filters | undefined;
  /** Cells along an edge: a power of two up to 128. */
  readonly grid: number;
  /** Keys of a record that single points have besides the usual properties. */
  readonly fields: readonly string[];
}

const WORLD = 0;
const EMPTY: Uint8Array = new Uint8Array(0);

/** The filters, narrowed to the box of a tile; undefined where no point of the tile can match. */
export function filtersWithin(address: TileAddress, filters: Filters): Filters | undefined {
  if (address.z === WORLD) return filters;
  const boxes = boxesWithin(boxOf(address), filters.boxes);
  return boxes.length === 0 ? undefined : { ...filters, boxes };
}

/**
 * Makes a tile as Mapbox Vector Tiles 2.1 have it, at once or in pieces: empty where nothing
 * matches. `accepted` are the matches among the accepted points.
 */
export function beginTile(
  engine: Engine,
  query: TileQuery,
  accepted: TailMatches | undefined,
  hints?: Hints,
): Uint8Array | Suspended<Uint8Array> {
  const { filters } = query;
  if (filters === undefined) return EMPTY;
  const use = (matches: Matches, scratch: Scratch): Step<Uint8Array> =>
    clusterTile(engine, scratch, query, matches, accepted);
  return engine.beginCollect(asSearched(query, filters), use, hints);
}

/** The same without a pause. */
export function makeTile(
  engine: Engine,
  query: TileQuery,
  accepted?: TailMatches,
  hints?: Hints,
): Uint8Array {
  const { filters } = query;
  if (filters === undefined) return EMPTY;
  const use = (matches: Matches, scratch: Scratch): Step<Uint8Array> =>
    clusterTile(engine, scratch, query, matches, accepted);
  return engine.collect(asSearched(query, filters), use, hints);
}

function clusterTile(
  { dataset }: Engine,
  scratch: Scratch,
  { address, grid: size, fields }: TileQuery,
  matches: Matches,
  accepted: TailMatches | undefined,
): Step<Uint8Array> {
  const grid = new Grid(address, size);
  const cells = new Cells(grid);
  return andThen(fillCells(dataset, scratch, grid, cells, matches), () => {
    for (const row of accepted?.rows ?? []) {
      cells.add(dataset.count + row, accepted!.tail.coords, row);
    }
    return encode(scratch, grid, cells, new Points(dataset, accepted), fields);
  });
}

// nanoseconds
const LOOK = 1; // at a cell
const CLUSTER = 200; // written
const SINGLE = 1_000;

function encode(
  { meter }: Scratch,
  grid: Grid,
  cells: Cells,
  points: Points,
  fields: readonly string[],
): Step<Uint8Array> {
  const { counts, sums, rows } = cells;
  let clusters = 0;
  let singles = 0;
  for (const count of counts) {
    if (count > 1) clusters++;
    else if (count === 1) singles++;
  }
  if (clusters + singles === 0) return EMPTY;
  const writer = new ProtobufWriter();

  function writeAll(name: string, cost: number, write: (layer: LayerWriter, cell: number) => void) {
    const layer = new LayerWriter(writer, name);
    const writing = inStretches(meter, 0, counts.length, cost, (from, to) => {
      for (let cell = from; cell < to; cell++) write(layer, cell);
    });
    return andThen(writing, () => layer.finish());
  }

  function writeCluster(layer: LayerWriter, cell: number): void {
    const count = counts[cell]!;
    if (count < 2) return;
    layer.begin();
    layer.property('point_count', count);
    layer.property('point_count_abbreviated', abbreviate(count));
    end(layer, cell);
  }

  function writeSingle(layer: LayerWriter, cell: number): void {
    if (counts[cell] !== 1) return;
    const row = rows[cell]!;
    const id = points.id(row);
    layer.begin(id);
    writeProperties(layer, points, row, id, fields);
    end(layer, cell);
  }

  function end(layer: LayerWriter, cell: number): void {
    const east = grid.unitsEast(sums[2 * cell]! / counts[cell]!, cell);
    layer.end(east, grid.unitsSouth(sums[2 * cell + 1]! / counts[cell]!, cell));
  }

  const share = counts.length;
  const first =
    clusters > 0
      ? writeAll('clusters', LOOK + (CLUSTER * clusters) / share, writeCluster)
      : undefined;
  return andThen(first, () => {
    const second =
      singles > 0 ? writeAll('points', LOOK + (SINGLE * singles) / share, writeSingle) : undefined;
    return andThen(second, () => writer.finish());
  });
}

/**
 * The filters that are searched for. A tile without any walks through its own part of all points,
 * which takes less than a search for its box.
 */
function asSearched({ address }: TileQuery, filters: Filters): Filters {
  const { boxes, ...others } = filters;
  if (address.z === WORLD || boxes === undefined || boxes.length !== 1) return filters;
  const [box] = boxes;
  const tile = boxOf(address);
  const isTile =
    box!.west === tile.west &&
    box!.east === tile.east &&
    box!.south === tile.south &&
    box!.north === tile.north;
  return isTile && Object.keys(others).length === 0 ? others : filters;
}
