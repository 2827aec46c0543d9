import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import { andThen, inStretches, type Step } from '../query/common/work.js';
import { abbreviate } from './abbreviate.js';
import { Cells } from './cells.js';
import { PropertyWriter, SINGLE } from './facts.js';
import { fillCells } from './fill.js';
import { Grid } from './grid.js';
import { LayerWriter } from './layer.js';
import { ProtobufWriter } from './protobuf.js';
import type { TileQuery } from './query.js';

// nanoseconds
const LOOK = 1; // at a cell
const CLUSTER = 200; // written

/** A tile of clusters and of the points that are alone in their cells; empty where there are none. */
export function clusterTile(
  dataset: Dataset,
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
    return encode(scratch, grid, cells, new PropertyWriter(dataset, accepted, fields));
  });
}

function encode(
  { meter }: Scratch,
  grid: Grid,
  { counts, sums, rows }: Cells,
  properties: PropertyWriter,
): Step<Uint8Array> {
  const writer = new ProtobufWriter();
  let clusters = 0;
  let singles = 0;
  for (const count of counts) {
    if (count > 1) clusters++;
    else if (count === 1) singles++;
  }

  /** Writes a layer of `features`, which takes `cost` each; none where there are no features. */
  function writeLayer(
    name: string,
    features: number,
    cost: number,
    write: (layer: LayerWriter, cell: number, count: number) => void,
  ): Step<void> {
    if (features === 0) return;
    const layer = new LayerWriter(writer, name);
    const mean = LOOK + (cost * features) / counts.length;
    const writing = inStretches(meter, 0, counts.length, mean, (from, to) => {
      for (let cell = from; cell < to; cell++) write(layer, cell, counts[cell]!);
    });
    return andThen(writing, () => layer.finish());
  }

  function writeCluster(layer: LayerWriter, cell: number, count: number): void {
    if (count < 2) return;
    layer.begin();
    layer.property('point_count', count);
    layer.property('point_count_abbreviated', abbreviate(count));
    end(layer, cell, count);
  }

  function writeSingle(layer: LayerWriter, cell: number, count: number): void {
    if (count !== 1) return;
    const row = rows[cell]!;
    const id = properties.id(row);
    layer.begin(id);
    properties.write(layer, row, id);
    end(layer, cell, count);
  }

  function end(layer: LayerWriter, cell: number, count: number): void {
    const east = grid.unitsEast(sums[2 * cell]! / count, cell);
    layer.end(east, grid.unitsSouth(sums[2 * cell + 1]! / count, cell));
  }

  return andThen(writeLayer('clusters', clusters, CLUSTER, writeCluster), () =>
    andThen(writeLayer('points', singles, SINGLE, writeSingle), () => writer.finish()),
  );
}
