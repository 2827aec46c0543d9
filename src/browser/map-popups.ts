import type { MapGeoJSONFeature, Map as MapLibre, PointLike, Popup } from 'maplibre-gl';
import { OPENABLE, type PageRecord } from './map-layers.js';
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
      const content = document.createElement('div');
      content.className = 'map-popup';
      for (const point of points.slice(0, MOST)) content.append(entry(point, facts));
      if (points.length > MOST) content.append(element('p', `and ${points.length - MOST} more`));
      const popup = new library.Popup({ maxWidth: 'none', focusAfterOpen: true });
      if (cluster !== undefined) {
        content.append(isDeepest ? linkTo(cluster) : button(cluster, () => goTo(cluster, popup)));
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
  const link = element('a', `Point ${id}`);
  // addresses begin at that of the list, on whose page every map stands
  link.href = `${id}/`;
  const heading = element('h3');
  heading.append(link);
  const created = timeText(record?.created_at ?? properties['created_at']);
  const about = `${record?.status ?? properties['status']} · ${created}`;
  const article = element('article');
  article.append(heading, element('p', about));
  if (record === undefined) return article;
  const comment = element('p', record.comment);
  // what is written from right to left stays in its paragraph
  comment.dir = 'auto';
  article.append(comment, tagList(record.tags ?? []));
  if (hasImages && IMAGE.test(record.image ?? '')) {
    const image = element('img');
    image.src = `../..${encodeURI(record.image!)}`;
    image.alt = `Image of point ${id}`;
    article.append(image);
  }
  return article;
}

function tagList(tags: readonly string[]): HTMLElement {
  const paragraph = element('p');
  for (const tag of tags) {
    const one = element('bdi', tag);
    one.className = 'tag';
    paragraph.append(one, ' ');
  }
  return paragraph;
}

/** A record's time, or a tile's seconds since 1970, to the minute and with its offset. */
function timeText(time: unknown): string {
  const text =
    typeof time === 'number' ? new Date(1000 * time).toISOString().replace('Z', '+00:00') : time;
  if (typeof text !== 'string') return '';
  return `${text.slice(0, 10)} ${text.slice(11, 16)} ${text.slice(-6)}`;
}

/** A button that goes closer to a cluster, on which points of the page lie. */
function button({ properties }: MapGeoJSONFeature, goCloser: () => void): HTMLElement {
  const made = element('button', `Go closer to ${properties['point_count']} points`);
  made.type = 'button';
  made.addEventListener('click', goCloser);
  return made;
}

/** A link to the list of a cluster's points: those of one place never come apart on the map. */
function linkTo(cluster: MapGeoJSONFeature): HTMLElement {
  const [lon, lat] = placeOf(cluster);
  const paragraph = element('p');
  const link = element('a', `${cluster.properties['point_count']} points around here`);
  const query = new URLSearchParams(location.search);
  query.delete('page');
  query.set('coordinates', `${lat.toFixed(7)},${lon.toFixed(7)},${AROUND}`);
  link.href = `?${query}`;
  paragraph.append(link);
  return paragraph;
}

function placeOf({ geometry }: MapGeoJSONFeature): Place {
  if (geometry.type !== 'Point') throw new Error(`A ${geometry.type} is no place.`);
  return geometry.coordinates as Place;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
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
