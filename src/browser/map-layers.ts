import type { GeoJSONSource, Map as MapLibre, MapOptions } from 'maplibre-gl';
import type { Outline, Place } from './shapes.js';

type Style = Exclude<MapOptions['style'], string | undefined>;
type GeoJson = Exclude<Parameters<GeoJSONSource['setData']>[0], string>;

/** The layers of `assets/map-style.json`, with names of colours such as `$sea`. */
export interface Drawn {
  readonly light: Colours;
  readonly dark: Colours;
  readonly layers: Style['layers'];
}

/** A point of the page, as its GeoJSON has it. */
export interface PageFeature {
  readonly type: 'Feature';
  readonly geometry: { readonly type: 'Point'; coordinates: Place };
  readonly properties: PageRecord;
}

export interface PageRecord {
  readonly id: number;
  readonly status: string;
  readonly comment: string;
  readonly image?: string;
  readonly tags?: readonly string[];
  readonly created_at: string;
}

type Colours = Readonly<Record<string, string>>;

export interface Shown {
  /** Template of the addresses of tiles with all matches. */
  readonly tiles: string;
  /** Address of the outlines of land. */
  readonly land: string;
  /** Template of the addresses of pictures of the world; undefined: the outlines alone. */
  readonly pictures: string | undefined;
  readonly records: PageFeature[];
  readonly shapes: Outline[];
  /** What is being drawn. */
  readonly draft: Place[];
}

/** Layers that can be opened, topmost first. */
export const OPENABLE = ['records', 'points', 'clusters'] as const;

export function styleOf({ light, dark, layers }: Drawn, shown: Shown, isDark: boolean): Style {
  const { land, tiles, pictures, records, shapes, draft } = shown;
  const colours = isDark ? dark : light;
  const coloured = JSON.stringify(layers).replaceAll(/\$(\w+)/g, (_, name) => colours[name]!);
  const leftOut = pictures === undefined ? 'pictures' : 'land';
  return {
    version: 8,
    sources: {
      land: { type: 'geojson', data: land, maxzoom: 8, tolerance: 0.2 },
      matches: { type: 'vector', tiles: [tiles], maxzoom: 22 },
      records: { type: 'geojson', data: { type: 'FeatureCollection', features: records } },
      shapes: { type: 'geojson', data: shapesJson(shapes), tolerance: 0 },
      draft: { type: 'geojson', data: draftJson(draft), tolerance: 0 },
      ...(pictures !== undefined && {
        pictures: { type: 'raster', tiles: [pictures], tileSize: 256, maxzoom: 19 } as const,
      }),
    },
    layers: (JSON.parse(coloured) as Style['layers']).filter(
      (layer) => !('source' in layer && layer.source === leftOut),
    ),
  };
}

export function showShapes(map: MapLibre, shapes: Outline[]): void {
  map.getSource<GeoJSONSource>('shapes')?.setData(shapesJson(shapes));
}

export function showDraft(map: MapLibre, draft: Place[]): void {
  map.getSource<GeoJSONSource>('draft')?.setData(draftJson(draft));
}

function shapesJson(shapes: Outline[]): GeoJson {
  return { type: 'MultiPolygon', coordinates: shapes };
}

function draftJson(draft: Place[]): GeoJson {
  return { type: 'LineString', coordinates: draft };
}
