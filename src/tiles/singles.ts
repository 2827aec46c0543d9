import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import { andThen, inStretches, type Step } from '../query/common/work.js';
import { PropertyWriter, SINGLE } from './facts.js';
import { Grid } from './grid.js';
import { LayerWriter } from './layer.js';
import { EXTENT } from './mercator.js';
import { ProtobufWriter } from './protobuf.js';
import type { TileQuery } from './query.js';
import { thinOut } from './thin.js';

/**
 * A tile of at most `limit` points, each at its own place, and a layer that says how many were left
 * out; empty where nothing matches.
 */
export function singlesTile(
  dataset: Dataset,
  scratch: Scratch,
  { address, limit = Infinity, fields }: TileQuery,
  matches: Matches,
  accepted: TailMatches | undefined,
): Step<Uint8Array> {
  const writer = new ProtobufWriter();
  const count = matches.count + (accepted?.rows.length ?? 0);
  if (count === 0) return writer.finish();
  return andThen(thinOut(dataset, scratch, matches, accepted, limit), (rows) => {
    const tile = new Grid(address, 1);
    const properties = new PropertyWriter(dataset, accepted, fields);
    const layer = new LayerWriter(writer, 'points');
    const writing = inStretches(scratch.meter, 0, rows.length, SINGLE, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        const id = properties.id(row);
        layer.begin(id);
        properties.write(layer, row, id);
        layer.end(tile.unitsEast(properties.lon(row), 0), tile.unitsSouth(properties.lat(row), 0));
      }
    });
    return andThen(writing, () => {
      layer.finish();
      writeMeta(new LayerWriter(writer, 'meta'), count, rows.length);
      return writer.finish();
    });
  });
}

/** Writes how many points match and how many are shown, at the middle of the tile. */
function writeMeta(layer: LayerWriter, count: number, shown: number): void {
  layer.begin();
  layer.property('point_count', count);
  layer.property('shown', shown);
  layer.property('left_out', count - shown);
  layer.end(EXTENT / 2, EXTENT / 2);
  layer.finish();
}
