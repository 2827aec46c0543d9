import { Later } from '../answer/pieces.js';
import type { View } from '../answer/pipeline.js';
import type { Page } from '../formats/format.js';
import { JSON_FORMAT } from '../formats/json.js';
import { OPENAPI, OPENAPI_30 } from '../formats/openapi.js';
import { SingleRecords } from '../formats/records.js';
import { ALLOW_READ } from '../request/addresses.js';
import type { Others, Readable } from './openapi-document.js';

/**
 * `GET /openapi.json`: the interface described, for programs. What makes the document is loaded
 * when it is asked for first: it costs each thread 4 ms of its start.
 */
export function openapiView(addresses: readonly Readable[], others: Others): View<undefined> {
  let document: object | undefined;

  function pageOf(document: object, origin: string): Page {
    const text = JSON.stringify({ ...document, servers: [{ url: origin }] });
    return { title: 'OpenAPI', list: undefined, records: new SingleRecords([Buffer.from(text)]) };
  }

  async function load(): Promise<object> {
    const { documentOf } = await import('./openapi-document.js');
    document ??= documentOf(addresses, others);
    return document;
  }

  return {
    name: 'openapi',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT, OPENAPI, OPENAPI_30],
    read: () => undefined,
    find(_wanted, { origin }) {
      if (document !== undefined) return pageOf(document, origin);
      return new Later((waiter) => {
        load()
          .then((loaded) => waiter.done(pageOf(loaded, origin)))
          .catch((error) => waiter.failed(error));
      });
    },
  };
}
