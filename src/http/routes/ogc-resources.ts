import { createPageCopier } from '../../index/record-page.js';
import type { ViewContext } from '../answer/context.js';
import type { View } from '../answer/view.js';
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
} from '../request/item-parameters.js';
import type { Parameter } from '../request/parameter.js';
import { type Description, described, POINT_ID } from './describe.js';
import { collectionsView, collectionView, conformanceView, landingView } from './ogc.js';
import { itemsView, itemView } from './ogc-items.js';

/** Makes a resource of an address, its view and its description. */
type Make<Resource> = <Wanted>(
  path: string,
  view: View<Wanted>,
  description: Description,
) => Resource;

/** OGC API - Features, address by address. */
export function ogcResources<Resource>(context: ViewContext, make: Make<Resource>): Resource[] {
  return [
    make(OGC_PATH, landingView(context), leading('OGC API - Features', 'Where everything is.')),
    make(
      CONFORMANCE_PATH,
      conformanceView(),
      ogcDocument('Conformance', 'The parts of the standard kept to.'),
    ),
    make(
      COLLECTIONS_PATH,
      collectionsView(context),
      leading('Collections', 'The one collection there is.'),
    ),
    make(
      COLLECTION_PATH,
      collectionView(context),
      leading('Collection', 'What the collection holds, where and when.'),
    ),
    make(
      ITEMS_PATH,
      itemsView(context, createPageCopier()),
      ogcDocument(
        'Items',
        'Points by ascending ids; the link to the next page begins behind the last one.',
        ITEMS_PARAMETERS,
      ),
    ),
    make(ITEM_PATH, itemView(), ogcDocument('Item', 'One point.', ITEM_PARAMETERS, [POINT_ID])),
  ];
}

function ogcDocument(
  name: string,
  description: string,
  parameters: readonly Parameter[] = OGC_PARAMETERS,
  pathParameters: readonly Parameter[] = [],
): Description {
  return described(name, description, parameters, pathParameters, []);
}

/** A document whose links keep the filters that it is asked with. */
function leading(name: string, description: string): Description {
  const text = `${description} Links to the items keep the filters.`;
  return ogcDocument(name, text, LEADING_PARAMETERS);
}
