import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { Matches } from '../query/common/matches.js';
import type { Scratch } from '../query/common/scratch.js';
import { andThen, type Step } from '../query/common/work.js';
import { Grid } from './grid.js';
import { writeMeta } from './meta.js';
import { writePoints } from './points.js';
import { ProtobufWriter } from './protobuf.js';
import type { TileQuery } from './query.js';
import { withinBudget } from './record-budget.js';
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
  return andThen(thinOut(dataset, scratch, matches, accepted, limit), (least) => {
    const budgeted = withinBudget(dataset, accepted, least, fields);
    const { fitting, bytes } = budgeted;
    const isWhole = fitting === least.length;
    const rows = isWhole ? least : budgeted.rows.slice(0, fitting).sort();
    const points = { rows, detailed: fitting, bytes, accepted, fields };
    const writing = writePoints(writer, new Grid(address, 1), dataset, points, scratch.meter);
    return andThen(writing, () => {
      const facts = { point_count: count, shown: rows.length, left_out: count - rows.length };
      writeMeta(writer, facts);
      return writer.finish();
    });
  });
}
