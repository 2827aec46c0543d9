import { rankOf } from '../../dataset/order.js';
import { recordBytes } from '../../dataset/records.js';
import type { View } from '../answer/pipeline.js';
import { SingleRecords } from '../formats/records.js';
import { FORMATS } from '../formats/table.js';
import { NotFound } from '../request/errors.js';
import { ALLOW_READ } from './addresses.js';

/** `GET /rest/map_data_points/<id>/`: one point. */
export function pointView(): View<number> {
  return {
    name: 'point',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: FORMATS,
    read({ path: { id } }) {
      if (!/^\d{1,16}$/.test(id!)) throw new NotFound();
      return Number(id);
    },
    find(id, _asked, { engine: { dataset } }) {
      const rank = rankOf(dataset.byId, id);
      if (rank < 0) throw new NotFound();
      const record = recordBytes(dataset.records, dataset.byId.rows[rank]!);
      const records = new SingleRecords([record]);
      return { title: `Map data point ${id}`, list: undefined, records };
    },
  };
}
