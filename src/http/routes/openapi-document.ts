import { version } from '../../version.js';
import type { Asked } from '../answer/pipeline.js';
import {
  createDocument,
  type Described,
  type Document,
  type Interface,
} from '../description/document.js';
import { type ErrorCase, thrownBy } from '../description/errors.js';

/** A text that no parameter with rules can be. */
const UNUSABLE = '~';

/** What the service answers besides. */
export type Others = Pick<Interface, 'hasImages' | 'hasOperations'>;

/** An address that describes itself, and reads what is asked of it. */
export interface Readable extends Omit<Described, 'refusals'> {
  read(asked: Asked): unknown;
}

/** Makes the document of addresses; its servers are known with the request. */
export function documentOf(addresses: readonly Readable[], others: Others): Document {
  return createDocument({ version: version(), addresses: addresses.map(describedOf), ...others });
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
