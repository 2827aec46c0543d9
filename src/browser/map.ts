import type { Map as MapLibre } from 'maplibre-gl';
import { type Drawn, type PageFeature, type Shown, showShapes, styleOf } from './map-layers.js';
import { createOpener, type Library, summaryOf } from './map-popups.js';
import { addTools, element } from './map-tools.js';
import { type Outline, outlineOf, type Place, SHAPE_NAMES } from './shapes.js';

/** Zoom to which a map goes at most when it shows all that is on it. */
const NEAR_ZOOM = 13;
/** Pixels of the world at zoom 0. */
const WORLD = 512;
/** The least zoom that the library takes, for a map that is tiny or hidden. */
const LEAST_ZOOM = -2;
/** Between two refreshes of the map, in milliseconds. */
const SPACING_MS = 1_000;
/** Milliseconds before a refused stream is asked for again. */
const RETRY_MS = 30_000;
/** Milliseconds before a refused tile is asked for again. */
const TILES_RETRY_MS = 5_000;
/** Key of {@link View} in the storage of the tab. */
const MEMORY = 'waypost-map';

interface View {
  readonly center: Place;
  readonly zoom: number;
  readonly shapes: string;
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
  const { tiles, points, changes, tileUrl } = place.dataset;
  const [library, style, [answer, sequence]] = await Promise.all([
    import(neighbour('maplibre-gl.mjs')) as Promise<Library>,
    fetch(neighbour('map-style.json')).then((response) => response.json() as Promise<Drawn>),
    fetch(points!).then(async (response) => {
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
      return [await response.json(), sequenceOf(response)] as const;
    }),
  ]);
  const records = (answer as { features?: PageFeature[] }).features ?? [];
  const form = document.querySelector<HTMLFormElement>('#filters');
  library.setWorkerUrl(neighbour('maplibre-gl-worker.mjs'));
  const shown: Shown = {
    // a worker needs the origin; `URL` would encode the braces of the template
    tiles: location.origin + tiles!,
    land: neighbour('land.json'),
    pictures: tileUrl,
    records,
    shapes: shapesOf(form),
    draft: [],
  };
  const bar = element('div', { className: 'map-bar' });
  const canvas = element('div', { className: 'map-canvas' });
  place.replaceChildren(bar, canvas);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const map = new library.Map({
    container: canvas,
    style: styleOf(style, shown, dark.matches),
    attributionControl: false,
    dragRotate: false,
    touchPitch: false,
    maxPitch: 0,
    ...(viewBefore(form) ?? viewOf(library, shown)),
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  const draw = (diff: boolean): void => {
    map.setStyle(styleOf(style, { ...shown, shapes: shapesOf(form) }, dark.matches), { diff });
  };
  dark.addEventListener('change', () => draw(true));
  map.on('error', ({ error }) => {
    place.dataset['problem'] = error.message;
  });
  retryTiles(map, canvas, () => draw(false));
  // a wide screen shows the world once
  const fitWorld = (): void => {
    const pixels = Math.max(canvas.clientWidth, canvas.clientHeight);
    map.setMinZoom(Math.max(LEAST_ZOOM, Math.log2(pixels / WORLD)));
  };
  fitWorld();
  map.on('resize', fitWorld);
  follow(map, place);
  if (changes !== undefined) followChanges(map, changes, sequence);

  const open = createOpener(library, map, {
    records: new Map(records.map(({ properties }) => [properties.id, properties])),
    hasImages: place.dataset['images'] !== undefined,
  });
  // of the shapes that filter, not of those that are being typed
  let texts = textsOf(form);
  addTools({
    map,
    bar,
    open,
    apply(shapes) {
      for (const [name, text] of Object.entries(shapes)) fieldOf(form, name)!.value = text;
      texts = textsOf(form);
      keepView(map, texts);
      // what keeps the form from being sent must be seen
      const folded = form?.closest('details');
      if (folded && !form!.checkValidity()) folded.open = true;
      form?.requestSubmit();
    },
  });
  form?.addEventListener('input', () => showShapes(map, shapesOf(form)));
  // fields have their old values after the event
  form?.addEventListener('reset', () => {
    setTimeout(() => {
      texts = textsOf(form);
      showShapes(map, shapesOf(form));
    });
  });
  map.on('idle', () => keepView(map, texts));
}

/** Says where tiles of matches are missing, and draws all anew: the library asks for none again. */
function retryTiles(map: MapLibre, canvas: HTMLElement, draw: () => void): void {
  const status = element('output');
  canvas.before(status);
  map.on('error', (event) => {
    // pictures of another host are its own affair
    const isOfMatches = 'sourceId' in event && event.sourceId === 'matches' && 'tile' in event;
    if (!isOfMatches || status.textContent !== '') return;
    status.textContent = 'Some of the map could not be loaded, and is asked for again.';
    window.setTimeout(() => {
      status.textContent = '';
      draw();
    }, TILES_RETRY_MS);
  });
}

/** Up to which sequence an answer has the accepted points: the last part of its state's name. */
function sequenceOf({ headers }: Response): number {
  const [, , digits = '0'] = headers.get('Waypost-Snapshot')?.replaceAll('"', '').split('.') ?? [];
  return Number.parseInt(digits, 36);
}

/** Keeps `data-state` and the summary in words as the map is drawn. */
function follow(map: MapLibre, place: HTMLElement): void {
  const change = (): void => {
    place.dataset['state'] = 'drawing';
  };
  map.on('dataloading', change);
  map.on('movestart', change);
  const tell = (): void => {
    map.getCanvas().ariaLabel = summaryOf(map);
  };
  // a refresh whose last tile has not changed ends without an `idle` event
  map.on('sourcedata', (event) => {
    if ('tile' in event && place.dataset['state'] === 'idle') map.once('render', tell);
  });
  map.on('idle', () => {
    tell();
    place.dataset['state'] = 'idle';
  });
}

/** The part of the world that has all shapes, else all records of the page. */
function viewOf({ LngLatBounds }: Library, { shapes, records }: Shown): object {
  const bounds = new LngLatBounds();
  const places =
    shapes.length > 0
      ? shapes.flatMap(([ring]) => ring!)
      : records.map(({ geometry }) => geometry.coordinates);
  for (const place of places) bounds.extend(place);
  if (bounds.isEmpty()) return { center: [0, 20], zoom: 1 };
  return { bounds, fitBoundsOptions: { padding: 40, maxZoom: NEAR_ZOOM } };
}

/** The shapes in the fields of the form, as far as they can be drawn. */
function shapesOf(form: HTMLFormElement | null): Outline[] {
  return SHAPE_NAMES.flatMap((name) => {
    const text = fieldOf(form, name)?.value.trim() ?? '';
    const outline = text === '' ? undefined : outlineOf(name, text);
    return outline === undefined ? [] : [outline];
  });
}

function fieldOf(form: HTMLFormElement | null, name: string): HTMLInputElement | undefined {
  const field = form?.elements.namedItem(name);
  return field instanceof HTMLInputElement ? field : undefined;
}

/** The address of another static file, all of which lie beside this script. */
function neighbour(file: string): string {
  return new URL(file, import.meta.url).href;
}

/** What the map showed on the page before, if the same shapes filtered there. */
function viewBefore(form: HTMLFormElement | null): View | undefined {
  try {
    const view: View | null = JSON.parse(sessionStorage.getItem(MEMORY) ?? 'null');
    return view?.shapes === textsOf(form) ? view : undefined;
  } catch {
    // browsers that keep nothing for sites throw
    return undefined;
  }
}

/** Keeps what the map shows for the next page of this tab. */
function keepView(map: MapLibre, shapes: string): void {
  const { lng, lat } = map.getCenter();
  const view: View = { center: [lng, lat], zoom: map.getZoom(), shapes };
  try {
    sessionStorage.setItem(MEMORY, JSON.stringify(view));
  } catch {
    // the next page shows all that matches
  }
}

function textsOf(form: HTMLFormElement | null): string {
  return SHAPE_NAMES.map((name) => fieldOf(form, name)?.value ?? '').join(' ');
}

/**
 * Refreshes a map as points are accepted: `address` is their stream, `after` the sequence of the
 * map's state. A hidden page has no stream: a browser has six connections to a host for all tabs.
 */
function followChanges(map: MapLibre, address: string, after: number): void {
  let stream: EventSource | undefined;
  let isDue = false;
  let refreshedAt = 0;

  function refresh(): void {
    isDue = false;
    refreshedAt = performance.now();
    // it is not there for a moment when all is drawn anew
    if (map.getSource('matches') !== undefined) map.refreshTiles('matches');
  }

  function refreshSoon(): void {
    if (isDue) return;
    isDue = true;
    window.setTimeout(refresh, Math.max(0, refreshedAt + SPACING_MS - performance.now()));
  }

  function open(from = ''): void {
    if (document.hidden || stream !== undefined) return;
    stream = new EventSource(address + from);
    stream.onmessage = refreshSoon;
    stream.onopen = () => {
      // points accepted in the meantime are not known
      if (from === '') refreshSoon();
    };
    stream.onerror = () => {
      // a browser reconnects by itself unless it was refused
      if (stream?.readyState !== EventSource.CLOSED) return;
      close();
      // the sequence to go on behind may be pruned by now
      window.setTimeout(open, from === '' ? RETRY_MS : 0);
    };
  }

  function close(): void {
    stream?.close();
    stream = undefined;
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', () => open());
  open(`&after=${after}`);
}

const place = document.querySelector<HTMLElement>('#map');
if (place !== null) void fill(place);
