import type { Format } from '../formats/format.js';
import { shownRecords } from '../formats/projection.js';
import type { Offer } from '../request/negotiation.js';
import { renderPage } from './page.js';
import type { Site } from './site.js';
import type { Subject } from './subject.js';

/** JSON that a page for people may show: 10 ms of work in all. */
const MAX_BYTES = 2 * 1024 * 1024;

/** What asks for a page. */
export const PAGE_OFFER: Offer = { parameter: 'api', mediaType: 'text/html' };
export const PAGE_TYPE = 'text/html; charset=utf-8';

/** The page that a person sees in a browser, beside the other representations of the same. */
export function pageFormat(site: Site, subject: Subject, alternatives: readonly Offer[]): Format {
  return {
    name: 'html',
    ...PAGE_OFFER,
    contentType: PAGE_TYPE,
    headers: site.headers,
    maxBytes: MAX_BYTES,
    isNamedByBody: true,
    isTimed: true,
    encode(page, { target, snapshot, headers, memory, budget }) {
      const shown = {
        title: page.title,
        method: 'GET',
        target,
        status: 200,
        headers,
        snapshot,
        list: page.list,
        records: shownRecords(page),
        alternatives,
        offered: page.offered,
        needsToken: page.needsToken ?? false,
      };
      return renderPage(site, subject, shown, memory, budget);
    },
  };
}
