import { version } from '../../version.js';
import type { Asked, View } from '../answer/pipeline.js';
import { createDocument, type Described, type Document } from '../description/document.js';
import { type ErrorCase, thrownBy } from '../description/errors.js';
import { JSON_FORMAT } from '../formats/json.js';
import { SingleRecords } from '../formats/records.js';
import { ALLOW_READ } from './addresses.js';

/** A text that no parameter with rules can be. */
const UNUSABLE = '~';

/** An address that describes itself, and reads what is asked of it. */
interface Readable extends Omit<Described, 'refusals'> {
  read(asked: Asked): unknown;
}

/** `GET /openapi.json`: the interface described, for programs. */
export function openapiView(documentOf: (origin: string) => Document): View<undefined> {
  return {
    name: 'openapi',
    allow: ALLOW_READ,
    isPersonal: false,
    formats: [JSON_FORMAT],
    read: () => undefined,
    find(_wanted, { origin }) {
      const records = new SingleRecords([Buffer.from(JSON.stringify(documentOf(origin)))]);
      return { title: 'OpenAPI', list: undefined, records };
    },
  };
}

/** Makes the reader of the document, which is made when it is asked for first. */
export function createDocumentOf(
  resources: readonly Readable[],
  hasImages: boolean,
): (origin: string) => Document {
  let document: Document | undefined;
  return (origin) => {
    document ??= createDocument({
      version: version(),
      addresses: resources.map(describedOf),
      hasImages,
    });
    const { openapi, info, ...others } = document;
    return { openapi, info, servers: [{ url: origin }], ...others };
  };
}

function describedOf(resource: Readable): Described {
  return { ...resource, refusals: refusalsOf(resource) };
}

/** What the address says to each parameter that it cannot use. */
function refusalsOf({ description, read }: Readable): ErrorCase[] {
  const { parameters, pathParameters } = description;
  const path = Object.fromEntries(pathParameters.map(({ name, example }) => [name, example]));
  return parameters.flatMap(({ name }) => {
    const asked: Asked = {
      origin: '',
      pairs: [{ name, value: UNUSABLE }],
      path,
      user: undefined,
    };
    const error = thrownBy(() => read(asked));
    return error?.status === 400 ? [{ name, when: 'a parameter cannot be used', error }] : [];
  });
}
