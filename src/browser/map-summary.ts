import type { MapGeoJSONFeature, Map as MapLibre } from 'maplibre-gl';
import { OPENABLE } from './map-layers.js';

/** What a map shows, in words, for those who do not see it. */
export function summaryOf(map: MapLibre): string {
  const [records, points, clusters] = OPENABLE.map((layer) => {
    const found = map.queryRenderedFeatures({ layers: [layer] });
    // neighbouring tiles and worlds repeat what lies at their edges
    const distinct = new Map(found.map((one) => [keyOf(one), one.properties]));
    return [...distinct.values()];
  }) as [object[], object[], { point_count: number }[]];
  const matches = clusters.reduce((sum, one) => sum + one.point_count, points.length);
  const groups = `${clusters.length} clusters and ${points.length} single points`;
  return `Map of ${matches} matches, ${groups}; ${records.length} points of this page`;
}

function keyOf({ geometry, properties }: MapGeoJSONFeature): string {
  if (properties['id'] !== undefined || geometry.type !== 'Point') return String(properties['id']);
  const [lon, lat] = geometry.coordinates as [number, number];
  // places come out of tiles rounded, each tile in its own way
  return [lon - 360 * Math.round(lon / 360), lat].map((one) => one.toFixed(3)).join();
}
