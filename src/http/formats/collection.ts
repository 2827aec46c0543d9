import type { Link, ListFacts } from './format.js';
import { selfLink } from './links.js';

/** The media type of GeoJSON. */
export const GEOJSON_TYPE = 'application/geo+json';

/** What stands behind the last Feature of a collection. */
export const AFTER_FEATURES = ']}';

/**
 * A FeatureCollection of GeoJSON up to its first Feature. `links` are those of {@link linksMember};
 * `own` are members that only some collections have, with a comma in front.
 */
export function beforeFeatures(
  { count }: ListFacts,
  returned: number,
  links: string,
  own = '',
): string {
  const numbers = `"numberMatched":${count},"numberReturned":${returned}`;
  return `{"type":"FeatureCollection"${own},${numbers},${links},"features":[`;
}

/** The links of a list to itself and to its neighbours. */
export function listLinks({ links, base, pairs }: ListFacts): Link[] {
  const all = [linkTo('self', selfLink(base, pairs))];
  if (links.next !== null) all.push(linkTo('next', links.next));
  if (links.previous !== null) all.push(linkTo('prev', links.previous));
  return all;
}

/** A member with links, whose addresses are ASCII without quotes or backslashes. */
export function linksMember(links: readonly Link[]): string {
  const texts = links.map(
    ({ rel, type, href }) => `{"rel":"${rel}","type":"${type}","href":"${href}"}`,
  );
  return `"links":[${texts.join(',')}]`;
}

function linkTo(rel: string, href: string): Link {
  return { rel, type: GEOJSON_TYPE, href };
}
