import type { Map as MapLibre } from 'maplibre-gl';
import { type Marked, type Shown, showShapes, styleOf } from './map-layers.js';
import { createOpener, type PageRecord } from './map-popups.js';
import { summaryOf } from './map-summary.js';
import { addTools } from './map-tools.js';
import { type Outline, outlineOf, type Place, SHAPE_NAMES, type ShapeName } from './shapes.js';

type Library = typeof import('maplibre-gl');

/** Cells along the edge of a tile: clusters of half the density that fits machines. */
const GRID = 8;
/** Zoom to which a map goes at most when it shows all that is on it. */
const NEAR_ZOOM = 13;
/** What keeps for the next page whether the map is open. */
const MEMORY = 'waypost-map';

/**
 * Fills the place of the map as soon as it is open, and not before: the library is half a megabyte.
 */
function prepare(place: HTMLElement): void {
  const box = place.closest('details');
  if (box === null) {
    void fill(place);
    return;
  }
  const start = (): void => {
    if (box.open && place.dataset['state'] === undefined) void fill(place);
  };
  box.open = wasOpen();
  start();
  box.addEventListener('toggle', () => {
    remember(box.open);
    start();
  });
}

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
    fetch(points!).then((response) => response.json()),
  ]);
  const records = (answer as { results?: PageRecord[] }).results ?? [];
  const form = document.querySelector<HTMLFormElement>('#filters');
  library.setWorkerUrl(absolute(worker!));
  const shown: Shown = {
    tiles: withGrid(tiles!),
    land: absolute(land!),
    pictures: tileUrl,
    records: records.map(marked),
    shapes: shapesOf(form),
    draft: [],
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
  dark.addEventListener('change', () => {
    map.setStyle(styleOf({ ...shown, shapes: shapesOf(form) }, dark.matches));
  });
  map.on('error', ({ error }) => {
    place.dataset['problem'] = error.message;
  });
  follow(map, place);

  const open = createOpener(library, map, {
    records: new Map(records.map((one) => [one.id, one])),
    prefix: place.dataset['prefix'] ?? '',
    hasImages: place.dataset['images'] !== undefined,
  });
  addTools({ map, bar, open, fill: (name, text) => fillField(form, name, text) });
  form?.addEventListener('input', () => showShapes(map, shapesOf(form)));
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

/** What the fields of the form say, as far as it can be drawn. */
function shapesOf(form: HTMLFormElement | null): Outline[] {
  return SHAPE_NAMES.flatMap((name) => {
    const text = fieldOf(form, name)?.value.trim() ?? '';
    const outline = text === '' ? undefined : outlineOf(name, text);
    return outline === undefined ? [] : [outline];
  });
}

function fillField(form: HTMLFormElement | null, name: ShapeName, text: string): void {
  const field = fieldOf(form, name);
  if (field === undefined) return;
  field.value = text;
  // whoever follows the fields learns of it as if it had been typed
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

function fieldOf(form: HTMLFormElement | null, name: ShapeName): HTMLInputElement | undefined {
  const field = form?.elements.namedItem(name);
  return field instanceof HTMLInputElement ? field : undefined;
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

/** Whether the map was open before; browsers that keep nothing for sites throw. */
function wasOpen(): boolean {
  try {
    return localStorage.getItem(MEMORY) === 'open';
  } catch {
    return false;
  }
}

function remember(isOpen: boolean): void {
  try {
    localStorage.setItem(MEMORY, isOpen ? 'open' : 'closed');
  } catch {
    // the next page begins with a closed map again
  }
}

const place = document.querySelector<HTMLElement>('#map');
if (place !== null) prepare(place);
