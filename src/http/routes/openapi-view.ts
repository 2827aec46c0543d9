import type { View } from '../answer/view.js';
import { JSON_FORMAT, OPENAPI, OPENAPI_30 } from '../formats/json-format.js';
import { ALLOW_READ } from '../request/addresses.js';
import type { DocumentTexts, Others, Readable } from './openapi-document.js';

/**
 * `GET /openapi.json`: the interface described, for programs. What makes the document is loaded
 * when it is asked for first: it costs each thread 4 ms of its start.
 */
export function openapiView(addresses: readonly Readable[], others: Others): View<undefined> {
  let texts: DocumentTexts | undefined;

  async function load(): Promise<void> {
    const { documentTexts } = await import('./openapi-document.js');
    texts ??= documentTexts(addresses, others);
  }

  return {
    name: 'openapi',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT, OPENAPI, OPENAPI_30],
    prepare: () => (texts === undefined ? load() : undefined),
    read: () => undefined,
    find(_wanted, { origin }, _served, _budget, format) {
      const rest = format === OPENAPI_30 ? texts!.older : texts!.newer;
      return Buffer.from(`{"servers":${JSON.stringify([{ url: origin }])},${rest}`);
    },
  };
}
