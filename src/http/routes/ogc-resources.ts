import { createPageCopier } from '../../dataset/record-page.js';
import type { Queue } from '../../query/queue.js';
import type { Context } from '../answer/context.js';
import type { View } from '../answer/pipeline.js';
import type { Answer, Description } from '../description/description.js';
import { OGC_ANSWERS } from '../description/ogc.js';
import { GEOJSON } from '../formats/geojson.js';
import {
  COLLECTION_PATH,
  COLLECTIONS_PATH,
  CONFORMANCE_PATH,
  ITEM_PATH,
  ITEMS_PATH,
  OGC_PATH,
} from '../request/addresses.js';
import {
  ITEM_PARAMETERS,
  ITEMS_PARAMETERS,
  LEADING_PARAMETERS,
  OGC_PARAMETERS,
} from '../request/items.js';
import type { Parameter } from '../request/parameter.js';
import { POINT_ID } from './describe.js';
import { collectionsView, collectionView, conformanceView, landingView } from './ogc.js';
import { itemsView, itemView } from './ogc-items.js';

/** Makes a resource of an address, its view and its description. */
type Make<Resource> = <Wanted>(
  path: string,
  view: View<Wanted>,
  description: Description,
) => Resource;

/** OGC API - Features, address by address. */
export function ogcResources<Resource>(
  context: Context,
  queue: Queue,
  make: Make<Resource>,
): Resource[] {
  return [
    make(
      OGC_PATH,
      landingView(context),
      leading('OGC API - Features', 'Where everything is.', OGC_ANSWERS.landing),
    ),
    make(
      CONFORMANCE_PATH,
      conformanceView(),
      documentOf('Conformance', 'The parts of the standard kept to.', OGC_ANSWERS.conformance),
    ),
    make(
      COLLECTIONS_PATH,
      collectionsView(context),
      leading('Collections', 'The one collection there is.', OGC_ANSWERS.collections),
    ),
    make(
      COLLECTION_PATH,
      collectionView(context),
      leading('Collection', 'What the collection holds, where and when.', OGC_ANSWERS.collection),
    ),
    make(ITEMS_PATH, itemsView(context, queue, createPageCopier()), {
      ...featuresOf(ITEMS_PARAMETERS, OGC_ANSWERS.items),
      name: 'Items',
      description: 'Points by ascending ids; the link to the next page begins behind the last one.',
    }),
    make(ITEM_PATH, itemView(), {
      ...featuresOf(ITEM_PARAMETERS, OGC_ANSWERS.item),
      name: 'Item',
      description: 'One point.',
      pathParameters: [POINT_ID],
    }),
  ];
}

function documentOf(name: string, description: string, answer: Answer): Description {
  return {
    name,
    description,
    parses: [],
    parameters: OGC_PARAMETERS,
    pathParameters: [],
    answers: { 'application/json': answer },
  };
}

/** A document whose links keep the filters that it is asked with. */
function leading(name: string, description: string, answer: Answer): Description {
  return {
    ...documentOf(name, `${description} Links to the items keep the filters.`, answer),
    parameters: LEADING_PARAMETERS,
  };
}

function featuresOf(
  parameters: readonly Parameter[],
  answer: Answer,
): Omit<Description, 'name' | 'description'> {
  const answers = { [GEOJSON.mediaType]: answer, 'application/json': answer };
  return { parses: [], parameters, pathParameters: [], answers };
}
