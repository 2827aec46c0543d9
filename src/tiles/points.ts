import type { Dataset } from '../dataset/dataset.js';
import type { TailMatches } from '../dataset/tail.js';
import type { RecordKey } from '../model/point.js';
import type { Microseconds } from '../model/units.js';
import { andThen, inStretches, type Meter, type Step } from '../query/common/work.js';
import { Facts } from './facts.js';
import type { Grid } from './grid.js';
import { LayerWriter } from './layer.js';
import type { ProtobufWriter } from './protobuf.js';

/** Properties of every point. */
const ALWAYS: readonly RecordKey[] = ['id', 'status', 'is_processed', 'created_at'];
const SECOND: Microseconds = 1e6;

// nanoseconds
const POINT = 700; // written
const RECORD = 2_500; // read besides

/** What the layer of points is made from. */
export interface PointsQuery {
  /** Row `i` of the tail is row `dataset.count + i`. */
  readonly rows: Int32Array;
  readonly accepted: TailMatches | undefined;
  /** Keys of a record that points have besides the usual properties. */
  readonly fields: readonly RecordKey[] | undefined;
}

/** Writes the layer of single points, each at its own place; none where there are no rows. */
export function writePoints(
  writer: ProtobufWriter,
  grid: Grid,
  dataset: Dataset,
  { rows, accepted, fields = [] }: PointsQuery,
  meter: Meter,
): Step<void> {
  if (rows.length === 0) return;
  const facts = new Facts(dataset, accepted);
  const layer = new LayerWriter(writer, 'points');
  const [id, status, isProcessed, createdAt] = ALWAYS.map((key) => layer.key(key));
  const others = fields
    .filter((key) => !ALWAYS.includes(key))
    .map((key) => ({ key, place: layer.key(key) }));

  const write = (from: number, to: number): void => {
    const some = rows.subarray(from, to);
    const ids = facts.ids(some);
    const times = facts.createdAt(some);
    for (let i = 0; i < some.length; i++) {
      const row = some[i]!;
      layer.begin(ids[i]!);
      layer.property(id!, layer.own(ids[i]!));
      layer.property(status!, layer.shared(facts.status(row)));
      layer.property(isProcessed!, layer.shared(facts.isProcessed(row)));
      layer.property(createdAt!, layer.own(Math.floor(times[i]! / SECOND)));
      if (others.length > 0) writeOthers(row);
      const [lon, lat] = [facts.lon(row), facts.lat(row)];
      const cell = grid.cellOf(lon, lat);
      layer.end(grid.unitsEast(lon, cell), grid.unitsSouth(lat, cell));
    }
  };

  function writeOthers(row: number): void {
    facts.look(row);
    for (const { key, place } of others) {
      const value = facts.member(key);
      if (value === undefined) continue;
      if (key === 'modified_at') {
        layer.property(place, layer.own(Math.floor(facts.modifiedAt(row) / SECOND)));
      } else {
        const isRepeated = key === 'tags' || key === 'created_by';
        layer.property(place, isRepeated ? layer.shared(value) : layer.own(value));
      }
    }
  }

  const cost = others.length === 0 ? POINT : POINT + RECORD;
  return andThen(inStretches(meter, 0, rows.length, cost, write), () => layer.finish());
}
