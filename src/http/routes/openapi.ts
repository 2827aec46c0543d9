import type { View } from '../answer/view.js';
import type { Format, Page } from '../formats/format.js';
import { JSON_FORMAT } from '../formats/json.js';
import { OPENAPI, OPENAPI_30 } from '../formats/openapi.js';
import { SingleRecords } from '../formats/records.js';
import { ALLOW_READ } from '../request/addresses.js';
import type { DocumentTexts, Others, Readable } from './openapi-document.js';

/**
 * `GET /openapi.json`: the interface described, for programs. What makes the document is loaded
 * when it is asked for first: it costs each thread 4 ms of its start.
 */
export function openapiView(addresses: readonly Readable[], others: Others): View<undefined> {
  let texts: DocumentTexts | undefined;

  /** The newer document; the older one has another end. */
  function pageOf({ newer }: DocumentTexts, origin: string): Page {
    const text = `{"servers":${JSON.stringify([{ url: origin }])},${newer}`;
    return { title: 'OpenAPI', list: undefined, records: new SingleRecords([Buffer.from(text)]) };
  }

  const older: Format = {
    ...OPENAPI_30,
    encode(page, exchange) {
      const { newer, older } = texts!;
      const text = Buffer.from(page.records.at(0)).toString().slice(0, -newer.length) + older;
      const records = new SingleRecords([Buffer.from(text)]);
      return JSON_FORMAT.encode({ ...page, records }, exchange);
    },
  };

  async function load(): Promise<void> {
    const { documentTexts } = await import('./openapi-document.js');
    texts ??= documentTexts(addresses, others);
  }

  return {
    name: 'openapi',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT, OPENAPI, older],
    prepare: () => (texts === undefined ? load() : undefined),
    read: () => undefined,
    find: (_wanted, { origin }) => pageOf(texts!, origin),
  };
}
