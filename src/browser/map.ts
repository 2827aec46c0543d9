import type { Map as MapLibre } from 'maplibre-gl';
import { createOpener, type PageRecord, summaryOf } from './map-popups.js';
import { type Marked, type Shown, styleOf } from './map-style.js';
import { type Outline, outlineOf, type Place, SHAPE_NAMES } from './shapes.js';

type Library = typeof import('maplibre-gl');

/** Cells along the edge of a tile: clusters of half the density that fits machines. */
const GRID = 8;
/** Zoom to which a map goes at most when it shows all that is on it. */
const NEAR_ZOOM = 13;
/** Decimals of a degree that stand in a filter: a metre. */
const DECIMALS = 5;
/** Pixels of the world at zoom 0. */
const WORLD = 512;

/** Makes the map, or says in its place why there is none. */
async function fill(place: HTMLElement): Promise<void> {
  place.dataset['state'] = 'loading';
  try {
    await makeMap(place);
  } catch (error) {
    place.dataset['state'] = 'failed';
    place.textContent = `There is no map: ${reasonOf(error)} The table below has the same points.`;
  }
}

function reasonOf(error: unknown): string {
  const canvas = document.createElement('canvas');
  if (canvas.getContext('webgl2') === null) return 'this browser offers no WebGL 2.';
  return `it could not be loaded (${error instanceof Error ? error.message : error}).`;
}

async function makeMap(place: HTMLElement): Promise<void> {
  const { library: address, worker, tiles, land, points, tileUrl } = place.dataset;
  const [library, answer] = await Promise.all([
    import(absolute(address!)) as Promise<Library>,
    fetch(points!).then((response): Promise<{ results?: PageRecord[] }> => response.json()),
  ]);
  const records = answer.results ?? [];
  library.setWorkerUrl(absolute(worker!));
  const shown: Shown = {
    tiles: withGrid(tiles!),
    land: absolute(land!),
    pictures: tileUrl,
    records: records.map(marked),
    shapes: shapesOf(new URL(location.href)),
  };
  const canvas = document.createElement('div');
  const bar = document.createElement('div');
  bar.className = 'map-bar';
  canvas.className = 'map-canvas';
  place.replaceChildren(bar, canvas);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const map = new library.Map({
    container: canvas,
    style: styleOf(shown, dark.matches),
    attributionControl: false,
    dragRotate: false,
    touchPitch: false,
    maxPitch: 0,
    ...viewOf(library, shown),
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  dark.addEventListener('change', () => map.setStyle(styleOf(shown, dark.matches)));
  map.on('error', ({ error }) => {
    place.dataset['problem'] = error.message;
  });
  // a wide screen shows the world once
  const fitWorld = (): void => {
    map.setMinZoom(Math.log2(Math.max(canvas.clientWidth, canvas.clientHeight) / WORLD));
  };
  fitWorld();
  map.on('resize', fitWorld);
  follow(map, place);

  const open = createOpener(library, map, {
    records: new Map(records.map((one) => [one.id, one])),
    prefix: place.dataset['prefix'] ?? '',
  });
  map.on('click', ({ point }) => open(point.x, point.y));
  map.getCanvas().addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') open(canvas.clientWidth / 2, canvas.clientHeight / 2);
  });
  const filterBy = (bbox: string): void => {
    const address = new URL(location.href);
    for (const name of [...SHAPE_NAMES, 'page']) address.searchParams.delete(name);
    if (bbox !== '') address.searchParams.set('bbox', bbox);
    location.assign(address);
  };
  bar.append(
    button('+', () => map.zoomIn(), 'Zoom in'),
    button('−', () => map.zoomOut(), 'Zoom out'),
    button('This view', () => filterBy(boxOf(map))),
    button('Clear', () => filterBy('')),
  );
}

function button(text: string, act: () => void, label = text): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.ariaLabel = label;
  made.addEventListener('click', act);
  return made;
}

/** What a map shows, as the parameter for a box has it; the service wraps longitudes. */
function boxOf(map: MapLibre): string {
  const [[west, south], [east, north]] = map.getBounds().toArray();
  return [west, south, east, north].map((degrees) => degrees.toFixed(DECIMALS)).join();
}

/** Tells in the page whether the map has drawn all there is to draw, and what in words. */
function follow(map: MapLibre, place: HTMLElement): void {
  const change = (): void => {
    place.dataset['state'] = 'drawing';
  };
  map.on('dataloading', change);
  map.on('movestart', change);
  map.on('idle', () => {
    map.getCanvas().ariaLabel = summaryOf(map);
    place.dataset['zoom'] = String(map.getZoom());
    place.dataset['state'] = 'idle';
  });
}

/** The part of the world that has all shapes, else all records of the page. */
function viewOf({ LngLatBounds }: Library, { shapes, records }: Shown): object {
  const bounds = new LngLatBounds();
  const places =
    shapes.length > 0 ? shapes.flatMap(([ring]) => ring!) : records.map(({ place }) => place);
  for (const place of places) bounds.extend([...place]);
  if (bounds.isEmpty()) return { center: [0, 20], zoom: 1 };
  return { bounds, fitBoundsOptions: { padding: 40, maxZoom: NEAR_ZOOM } };
}

/** The filters of an address, as far as they can be drawn. */
function shapesOf({ searchParams }: URL): Outline[] {
  return SHAPE_NAMES.flatMap((name) => {
    const outline = outlineOf(name, searchParams.get(name) ?? '');
    return outline === undefined ? [] : [outline];
  });
}

function marked({ id, lat, lon }: PageRecord): Marked {
  const place: Place = [Number(lon), Number(lat)];
  return { id, place };
}

function withGrid(tiles: string): string {
  return `${absolute(tiles)}${tiles.includes('?') ? '&' : '?'}grid=${GRID}`;
}

/** An address with its origin, which workers need; braces of a template stay. */
function absolute(address: string): string {
  return address.startsWith('/') ? location.origin + address : address;
}

const place = document.querySelector<HTMLElement>('#map');
if (place !== null) void fill(place);
