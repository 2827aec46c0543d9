import type { View } from '../answer/view.js';
import type { Format } from '../formats/format.js';
import { SingleRecords } from '../formats/records.js';
import { ALLOW_READ, NOTIFICATIONS_PATH, POINTS_PATH } from '../request/addresses.js';

/** `GET /rest/`: the resources by name and URL. */
export function rootView(formats: readonly Format[]): View<undefined> {
  return {
    name: 'root',
    allow: ALLOW_READ,
    isPersonal: false,
    formats,
    read: () => undefined,
    find(_wanted, { origin }) {
      const resources = {
        map_data_points: origin + POINTS_PATH,
        notifications: origin + NOTIFICATIONS_PATH,
      };
      const records = new SingleRecords([Buffer.from(JSON.stringify(resources))]);
      return { title: 'Waypost', list: undefined, records };
    },
  };
}
