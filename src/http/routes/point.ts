import { rankOf } from '../../dataset/order.js';
import { recordBytes } from '../../dataset/records.js';
import { tailRecord, tailRowOf } from '../../dataset/tail.js';
import type { RecordKey } from '../../model/point.js';
import type { Served, View } from '../answer/view.js';
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
    find({ id, keys }, _asked, served) {
      const records = new SingleRecords([recordOf(id, served)]);
      return { title: `Map data point ${id}`, list: undefined, records, keys };
    },
  };
}

function recordOf(id: number, { generation, state }: Served): Uint8Array {
  const { tail } = generation;
  const { byId, records } = generation.engine.dataset;
  const rank = rankOf(byId, id);
  if (rank >= 0) return recordBytes(records, byId.rows[rank]!);
  const row = tail === undefined ? -1 : tailRowOf(tail, id, state.length);
  if (row < 0) throw new NotFound();
  return tailRecord(tail!, row);
}
