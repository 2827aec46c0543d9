import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import { andThen, type Step } from '../query/common/work.js';
import { Grid } from './grid.js';
import { LayerWriter } from './layer.js';
import { EXTENT } from './mercator.js';
import { writePoints } from './points.js';
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
    const points = { rows, accepted, fields };
    const writing = writePoints(writer, new Grid(address, 1), dataset, points, scratch.meter);
    return andThen(writing, () => {
      writeMeta(new LayerWriter(writer, 'meta'), count, rows.length);
      return writer.finish();
    });
  });
}

/** Writes how many points match and how many are shown, at the middle of the tile. */
function writeMeta(layer: LayerWriter, count: number, shown: number): void {
  const facts = { point_count: count, shown, left_out: count - shown };
  const properties = Object.entries(facts).map(([name, value]) => ({
    key: layer.key(name),
    value: layer.shared(value),
  }));
  layer.begin();
  for (const { key, value } of properties) layer.property(key, value);
  layer.end(EXTENT / 2, EXTENT / 2);
  layer.finish();
}
