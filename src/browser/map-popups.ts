import type { MapGeoJSONFeature, Map as MapLibre, PointLike, Popup } from 'maplibre-gl';
import { OPENABLE, type PageRecord } from './map-layers.js';
import { button, element } from './map-tools.js';
import type { Place } from './shapes.js';

interface PopupFacts {
  readonly records: ReadonlyMap<number, PageRecord>;
  /** Whether the service has the images that records name. */
  readonly hasImages: boolean;
}

export type Library = typeof import('maplibre-gl');

/** Images of this service: nothing else is loaded, whatever a record says. */
const IMAGE = /^\/media\/map_data_points\/\d+\/[^/\\]+$/;
/** Pixels around a pointer in which things are hit. */
const REACH = 6;
/** Records of one place that a popup shows. */
const MOST = 10;
/** Zoom levels that the map goes closer to a cluster. */
const CLOSER = 2;
const MAX_ZOOM = 20;
/** Metres around a cluster at {@link MAX_ZOOM} that hold all of its points. */
const AROUND = 8;

/** Makes the function that opens what lies at a pixel of the map, points in a popup. */
export function createOpener(
  library: Library,
  map: MapLibre,
  facts: PopupFacts,
): (x: number, y: number) => void {
  return (x, y) => {
    const area: [PointLike, PointLike] = [
      [x - REACH, y - REACH],
      [x + REACH, y + REACH],
    ];
    const hit = map.queryRenderedFeatures(area, { layers: [...OPENABLE] });
    const points = distinct(hit.filter(({ layer }) => layer.id !== 'clusters'));
    const cluster = hit.find(({ layer }) => layer.id === 'clusters');
    // below it tiles are those of the zoom before, with larger cells
    const isDeepest = map.getZoom() > MAX_ZOOM - 1e-6;
    if (points.length > 0 || (cluster !== undefined && isDeepest)) {
      const shown = points.slice(0, MOST).map((point) => entry(point, facts));
      const content = element('div', { className: 'map-popup' }, ...shown);
      if (points.length > MOST)
        content.append(element('p', {}, `and ${points.length - MOST} more`));
      const popup = new library.Popup({ maxWidth: 'none', focusAfterOpen: true });
      if (cluster !== undefined) {
        const goCloser = `Go closer to ${cluster.properties['point_count']} points`;
        content.append(isDeepest ? linkTo(cluster) : button(goCloser, () => goTo(cluster, popup)));
      }
      // the first link or button gets the focus: all must be there
      popup
        .setLngLat(placeOf(points[0] ?? cluster!))
        .setDOMContent(content)
        .addTo(map);
      popup.getElement().addEventListener('keydown', ({ key }) => {
        if (key === 'Escape') popup.remove();
      });
      // the focus goes on from the map, not from the top of the page
      popup.on('close', () => {
        if (document.activeElement === document.body)
          map.getCanvas().focus({ preventScroll: true });
      });
      return;
    }
    if (cluster !== undefined) goTo(cluster);
  };

  function goTo(cluster: MapGeoJSONFeature, popup?: Popup): void {
    popup?.remove();
    const zoom = Math.min(MAX_ZOOM, Math.floor(map.getZoom()) + CLOSER);
    map.easeTo({ center: placeOf(cluster), zoom });
  }
}

/** The features without those that show the same again, in another layer, tile or world. */
function distinct(features: readonly MapGeoJSONFeature[]): MapGeoJSONFeature[] {
  const byKey = new Map<string, MapGeoJSONFeature>();
  for (const feature of features) {
    const key = keyOf(feature);
    if (!byKey.has(key)) byKey.set(key, feature);
  }
  return [...byKey.values()];
}

/** Users wrote what is shown: it becomes text, never markup. */
function entry({ properties }: MapGeoJSONFeature, { records, hasImages }: PopupFacts): HTMLElement {
  const id = Number(properties['id']);
  const record = records.get(id);
  // addresses begin at that of the list, on whose page every map stands
  const heading = element('h3', {}, element('a', { href: `${id}/` }, `Point ${id}`));
  const created = timeText(record?.created_at ?? properties['created_at']);
  const about = element('p', {}, `${record?.status ?? properties['status']} · ${created}`);
  const article = element('article', {}, heading, about);
  if (record === undefined) return article;
  const { comment, image = '', tags = [] } = record;
  const shown = tags.flatMap((tag) => [element('bdi', { className: 'tag' }, tag), ' ']);
  // what is written from right to left stays in its paragraph
  article.append(element('p', { dir: 'auto' }, comment), element('p', {}, ...shown));
  if (hasImages && IMAGE.test(image)) {
    const src = `../..${encodeURI(image)}`;
    article.append(element('img', { src, alt: `Image of point ${id}` }));
  }
  return article;
}

/** A record's time, or a tile's seconds since 1970, to the minute and with its offset. */
function timeText(time: unknown): string {
  const text =
    typeof time === 'number' ? new Date(1000 * time).toISOString().replace('Z', '+00:00') : time;
  if (typeof text !== 'string') return '';
  return `${text.slice(0, 10)} ${text.slice(11, 16)} ${text.slice(-6)}`;
}

/** A link to the list of a cluster's points: those of one place never come apart on the map. */
function linkTo(cluster: MapGeoJSONFeature): HTMLElement {
  const [lon, lat] = placeOf(cluster);
  const query = new URLSearchParams(location.search);
  query.delete('page');
  query.set('coordinates', `${lat.toFixed(7)},${lon.toFixed(7)},${AROUND}`);
  const text = `${cluster.properties['point_count']} points around here`;
  return element('p', {}, element('a', { href: `?${query}` }, text));
}

function placeOf({ geometry }: MapGeoJSONFeature): Place {
  if (geometry.type !== 'Point') throw new Error(`A ${geometry.type} is no place.`);
  return geometry.coordinates as Place;
}

/** What a map shows, in words, for those who do not see it. */
export function summaryOf(map: MapLibre): string {
  const [records, points, clusters] = OPENABLE.map((layer) => {
    // neighbouring tiles and worlds repeat what lies at their edges
    const found = distinct(map.queryRenderedFeatures({ layers: [layer] }));
    return found.map(({ properties }) => properties);
  }) as [object[], object[], { point_count: number }[]];
  const matches = clusters.reduce((sum, one) => sum + one.point_count, points.length);
  const groups = `${clusters.length} clusters and ${points.length} single points`;
  return `Map of ${matches} matches, ${groups}; ${records.length} points of this page`;
}

function keyOf({ geometry, properties }: MapGeoJSONFeature): string {
  if (properties['id'] !== undefined || geometry.type !== 'Point') return String(properties['id']);
  const [lon, lat] = geometry.coordinates as [number, number];
  return [lon - 360 * Math.round(lon / 360), lat].map((one) => one.toFixed(6)).join();
}
