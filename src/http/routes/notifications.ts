import type { View } from '../answer/view.js';
import type { Format } from '../formats/format.js';
import { pageLinks } from '../formats/links.js';
import { SingleRecords } from '../formats/records.js';
import { ALLOW_READ, NOTIFICATIONS_PATH } from '../request/addresses.js';
import { invalidPage } from '../request/errors.js';
import { type PageRequest, parsePageQuery } from '../request/params.js';

/**
 * `GET /rest/notifications/`: what the user of the token has not seen yet; nothing without a token.
 */
export function notificationsView(formats: readonly Format[]): View<PageRequest> {
  return {
    name: 'notifications',
    allow: ALLOW_READ,
    isPersonal: true,
    formats,
    read: ({ pairs }) => parsePageQuery(pairs),
    find({ page: wanted, pageSize }, { origin, pairs, user }, { generation: { unseen } }) {
      const all = (user === undefined ? undefined : unseen.get(user)) ?? [];
      const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
      const page = wanted === 'last' ? pageCount : wanted;
      if (page > pageCount) throw invalidPage();
      const from = (page - 1) * pageSize;
      const shown = all.slice(from, from + pageSize).map((json) => Buffer.from(json));
      const base = origin + NOTIFICATIONS_PATH;
      const links = pageLinks(base, pairs, page, pageCount);
      return {
        title: 'Notifications',
        list: { count: all.length, links, page, pageCount, base, pairs },
        records: new SingleRecords(shown),
        needsToken: user === undefined,
      };
    },
  };
}
