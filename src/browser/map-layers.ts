import type {
  ExpressionSpecification,
  GeoJSONSource,
  Map as MapLibre,
  MapOptions,
} from 'maplibre-gl';
import type { Outline, Place } from './shapes.js';

/** The style of a map: what it draws of which sources. */
type Style = Exclude<MapOptions['style'], string | undefined>;
type Layers = Style['layers'];
type GeoJson = Exclude<Parameters<GeoJSONSource['setData']>[0], string>;

/** A record of the page, where it stands on the map. */
export interface Marked {
  readonly id: number;
  readonly place: Place;
}

/** What a map shows. */
export interface Shown {
  /** Template of the addresses of tiles with all matches. */
  readonly tiles: string;
  /** Address of the outlines of land. */
  readonly land: string;
  /** Template of the addresses of pictures of the world; undefined: the outlines alone. */
  readonly pictures: string | undefined;
  readonly records: readonly Marked[];
  readonly shapes: readonly Outline[];
  /** What is being drawn. */
  readonly draft: readonly Place[];
}

/** Layers that can be opened, topmost first. */
export const OPENABLE = ['records', 'points', 'clusters'] as const;

const LIGHT = {
  sea: '#dfe7ee',
  ground: '#f1f1ee',
  land: '#fbfaf7',
  coast: '#b4c0cb',
  cluster: '#2f6fae',
  many: '#1d3f73',
  count: '#ffffff',
  point: '#2f6fae',
  record: '#c2410c',
  edge: '#ffffff',
  shape: '#7c3aed',
};
const DARK: typeof LIGHT = {
  sea: '#12161c',
  ground: '#1e2329',
  land: '#252b34',
  coast: '#465160',
  cluster: '#3f7fc4',
  many: '#8ab8ee',
  count: '#0b0d10',
  point: '#6ea8e6',
  record: '#fb923c',
  edge: '#12161c',
  shape: '#c4b5fd',
};

/** How the map draws what it shows. */
export function styleOf(shown: Shown, isDark: boolean): Style {
  const colours = isDark ? DARK : LIGHT;
  const { land, tiles, pictures, records, shapes, draft } = shown;
  return {
    version: 8,
    sources: {
      land: { type: 'geojson', data: land, maxzoom: 8, tolerance: 0.2 },
      matches: { type: 'vector', tiles: [tiles], maxzoom: 22 },
      records: { type: 'geojson', data: recordsJson(records) },
      shapes: { type: 'geojson', data: shapesJson(shapes), tolerance: 0 },
      draft: { type: 'geojson', data: draftJson(draft), tolerance: 0 },
      ...(pictures !== undefined && {
        pictures: { type: 'raster', tiles: [pictures], tileSize: 256, maxzoom: 19 } as const,
      }),
    },
    layers: [
      { id: 'sea', type: 'background', paint: { 'background-color': faded(colours) } },
      ...(pictures === undefined ? outlineLayers(colours) : PICTURES),
      ...shapeLayers(colours),
      ...matchLayers(colours),
      recordLayer(colours),
      // counts stay readable where a record lies in a cluster
      countLayer(colours),
    ],
  };
}

/** Shows other shapes on a map that stands. */
export function showShapes(map: MapLibre, shapes: readonly Outline[]): void {
  map.getSource<GeoJSONSource>('shapes')?.setData(shapesJson(shapes));
}

/** Shows what is being drawn. */
export function showDraft(map: MapLibre, draft: readonly Place[]): void {
  map.getSource<GeoJSONSource>('draft')?.setData(draftJson(draft));
}

const PICTURES: Layers = [{ id: 'pictures', type: 'raster', source: 'pictures' }];

/** Zooms between which the outlines of land, which are coarse, give way to neutral ground. */
const FADING = [6, 8] as const;
const OPACITY: ExpressionSpecification = [
  'interpolate',
  ['linear'],
  ['zoom'],
  FADING[0],
  1,
  FADING[1],
  0,
];

function faded({ sea, ground }: typeof LIGHT): ExpressionSpecification {
  return ['interpolate', ['linear'], ['zoom'], FADING[0], sea, FADING[1], ground];
}

function outlineLayers(colours: typeof LIGHT): Layers {
  return [
    {
      id: 'land',
      type: 'fill',
      source: 'land',
      paint: {
        'fill-color': colours.land,
        'fill-opacity': OPACITY,
      },
    },
    {
      id: 'coast',
      type: 'line',
      source: 'land',
      paint: {
        'line-color': colours.coast,
        'line-opacity': OPACITY,
      },
    },
  ];
}

function matchLayers(colours: typeof LIGHT): Layers {
  return [
    {
      id: 'clusters',
      type: 'circle',
      source: 'matches',
      'source-layer': 'clusters',
      paint: {
        'circle-radius': [
          'interpolate',
          ['linear'],
          ['log10', ['get', 'point_count']],
          0.3,
          9,
          5,
          26,
        ],
        'circle-color': [
          'interpolate',
          ['linear'],
          ['log10', ['get', 'point_count']],
          1,
          colours.cluster,
          5,
          colours.many,
        ],
        'circle-opacity': 0.9,
        'circle-stroke-color': colours.edge,
        'circle-stroke-width': 1,
      },
    },
    {
      id: 'points',
      type: 'circle',
      source: 'matches',
      'source-layer': 'points',
      paint: {
        'circle-radius': 4,
        'circle-color': colours.point,
        'circle-stroke-color': colours.edge,
        'circle-stroke-width': 1,
      },
    },
  ];
}

function countLayer({ count, many: cluster }: typeof LIGHT): Layers[number] {
  return {
    id: 'counts',
    type: 'symbol',
    source: 'matches',
    'source-layer': 'clusters',
    layout: {
      'text-field': ['to-string', ['get', 'point_count_abbreviated']],
      'text-size': 11,
      'text-allow-overlap': true,
    },
    paint: { 'text-color': count, 'text-halo-color': cluster, 'text-halo-width': 1 },
  };
}

function recordLayer(colours: typeof LIGHT): Layers[number] {
  return {
    id: 'records',
    type: 'circle',
    source: 'records',
    paint: {
      'circle-radius': 4.5,
      'circle-color': colours.record,
      'circle-stroke-color': colours.edge,
      'circle-stroke-width': 1.5,
    },
  };
}

function shapeLayers({ shape }: typeof LIGHT): Layers {
  return [
    {
      id: 'shapes',
      type: 'fill',
      source: 'shapes',
      paint: { 'fill-color': shape, 'fill-opacity': 0.12 },
    },
    {
      id: 'edges',
      type: 'line',
      source: 'shapes',
      paint: { 'line-color': shape, 'line-width': 2 },
    },
    {
      id: 'draft',
      type: 'line',
      source: 'draft',
      paint: { 'line-color': shape, 'line-width': 2, 'line-dasharray': [2, 1.5] },
    },
  ];
}

function recordsJson(records: readonly Marked[]): GeoJson {
  return {
    type: 'FeatureCollection',
    features: records.map(({ id, place }) => ({
      type: 'Feature',
      properties: { id },
      geometry: { type: 'Point', coordinates: [...place] },
    })),
  };
}

function shapesJson(shapes: readonly Outline[]): GeoJson {
  return {
    type: 'FeatureCollection',
    features: shapes.map((rings) => ({
      type: 'Feature',
      properties: {},
      geometry: { type: 'Polygon', coordinates: positions(rings) },
    })),
  };
}

function draftJson(draft: readonly Place[]): GeoJson {
  const [coordinates] = positions([draft]);
  return {
    type: 'Feature',
    properties: {},
    geometry: { type: 'LineString', coordinates: coordinates! },
  };
}

function positions(rings: Outline): number[][][] {
  return rings.map((ring) => ring.map((place) => [...place]));
}
