import type { Dataset } from '../../dataset/dataset.js';
import { rankOf } from '../../dataset/order.js';
import { recordBytes } from '../../dataset/records.js';
import { type TailMatches, tailRecord, tailRowOf } from '../../dataset/tail.js';
import type { RecordKey } from '../../model/point.js';
import type { View } from '../answer/pipeline.js';
import type { Format } from '../formats/format.js';
import { SingleRecords } from '../formats/records.js';
import { ALLOW_READ } from '../request/addresses.js';
import { NotFound } from '../request/errors.js';
import { parsePointQuery } from '../request/params.js';

/** A point that is asked for, and the keys that it shall have. */
export interface WantedPoint {
  readonly id: number;
  readonly keys: readonly RecordKey[] | undefined;
}

const NONE = new Int32Array(0);

/** `GET /rest/map_data_points/<id>/`: one point. */
export function pointView(formats: readonly Format[]): View<WantedPoint> {
  return {
    name: 'point',
    allow: ALLOW_READ,
    isPersonal: false,
    formats,
    read({ path: { id }, pairs }) {
      if (!/^\d{1,16}$/.test(id!)) throw new NotFound();
      return { id: Number(id), keys: parsePointQuery(pairs) };
    },
    accepted({ id }, tail, from, to) {
      const row = tailRowOf(tail, id, from, to);
      return row < 0 ? NONE : Int32Array.of(row);
    },
    find({ id, keys }, _asked, { engine: { dataset } }, accepted) {
      const records = new SingleRecords([recordOf(id, dataset, accepted)]);
      return { title: `Map data point ${id}`, list: undefined, records, keys };
    },
  };
}

function recordOf(id: number, { byId, records }: Dataset, accepted?: TailMatches): Uint8Array {
  if (accepted !== undefined) return tailRecord(accepted.tail, accepted.rows[0]!);
  const rank = rankOf(byId, id);
  if (rank < 0) throw new NotFound();
  return recordBytes(records, byId.rows[rank]!);
}
