import { EXPORT_FORMATS } from '../../exports/encoder.js';
import type { ViewContext } from '../answer/context.js';
import { GEOJSON } from '../formats/features.js';
import { JSON_FORMAT } from '../formats/json-format.js';
import type { Format } from '../formats/representation.js';
import {
  NOTIFICATION_COLUMNS,
  notificationLinks,
  POINT_COLUMNS,
  pointLinks,
} from '../pages/columns.js';
import { PAGE_OFFER, pageFormat } from '../pages/page-format.js';
import {
  type Crumb,
  type Example,
  HOME,
  plainSubject,
  type Site,
  type Subject,
} from '../pages/site.js';
import { POINTS_PATH, TILE_PATH, templateOf } from '../request/addresses.js';
import {
  type Description,
  NOTIFICATIONS_DESCRIPTION,
  optionsOf,
  POINT_DESCRIPTION,
  POINTS_DESCRIPTION,
  READ_POINTS_DESCRIPTION,
  ROOT_DESCRIPTION,
} from './describe.js';

/** What the pages of each address are about. */
export interface Subjects {
  readonly points: Subject;
  readonly point: Subject;
  readonly notifications: Subject;
  readonly root: Subject;
}

const POINTS: Crumb = { label: 'Map data points', path: POINTS_PATH };

const EXAMPLES: readonly Example[] = [
  { label: 'newest first', query: 'ordering=-created_at' },
  { label: 'within 1 km of a place, nearest first', query: 'coordinates=60.166,24.951,1000' },
  { label: 'in a box', query: 'bbox=24.94,60.16,24.96,60.18' },
  { label: 'with an image', query: 'has_image=true' },
  {
    label: 'of one month',
    query: 'created_at_after=2023-05-01T00%3A00%3A00Z&created_at_before=2023-06-01T00%3A00%3A00Z',
  },
];

/**
 * The formats for programs of an address and its page, in the service's own order of preference.
 */
export function withPage(
  site: Site,
  subject: Subject,
  [first, ...others]: readonly [Format, ...Format[]],
): readonly Format[] {
  return [first, pageFormat(site, subject, [first, ...others]), ...others];
}

export function createSubjects({ site, posting }: Pick<ViewContext, 'site' | 'posting'>): Subjects {
  // names of images that are not served lead nowhere
  const columns = POINT_COLUMNS.filter(({ keys }) => site.hasImages || keys[0] !== 'image');
  const listed = posting === undefined ? READ_POINTS_DESCRIPTION : POINTS_DESCRIPTION;
  return {
    points: {
      ...described(POINTS.label, listed, POINT_FORMATS),
      crumbs: [HOME],
      parameters: listed.parameters,
      examples: EXAMPLES,
      columns,
      links: pointLinks(site),
      tiles: templateOf(TILE_PATH),
      exports: EXPORT_FORMATS.map(({ name }) => name),
      posts: POINTS_PATH,
    },
    point: {
      ...described('Map data point', POINT_DESCRIPTION, POINT_FORMATS),
      crumbs: [HOME, POINTS],
      columns,
      links: pointLinks(site),
    },
    notifications: {
      ...described('Notifications', NOTIFICATIONS_DESCRIPTION, FORMATS),
      crumbs: [HOME],
      parameters: NOTIFICATIONS_DESCRIPTION.parameters,
      columns: NOTIFICATION_COLUMNS,
      links: notificationLinks(site),
    },
    root: {
      ...described(HOME.label, ROOT_DESCRIPTION, FORMATS),
      // all values are addresses of this service
      links: ['map_data_points', 'notifications'].map((key) => ({ key, href: String })),
    },
  };
}

/** What every subject says, with nothing more. */
function described(
  name: string,
  description: Description,
  [first, ...others]: readonly [Format, ...Format[]],
): Subject {
  const options = optionsOf(description, [first, PAGE_OFFER, ...others]);
  return { ...plainSubject(name, description.description), options };
}

/**
 * The representations of every address for programs, in the service's own order of preference.
 * Behind the first stands the page for people, which each address has its own of.
 */
export const FORMATS: readonly [Format, ...Format[]] = [JSON_FORMAT];

/** Those of points. */
export const POINT_FORMATS: readonly [Format, ...Format[]] = [...FORMATS, GEOJSON];
