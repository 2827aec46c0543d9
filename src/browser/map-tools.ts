import type { Map as MapLibre } from 'maplibre-gl';
import { showDraft } from './map-layers.js';
import { outlineOf, type Place, SHAPE_NAMES, type ShapeName, textOf } from './shapes.js';

const SHAPES: Readonly<Record<ShapeName, { label: string; help: string }>> = {
  bbox: { label: 'Box', help: 'Drag from corner to corner, or set both with clicks or Enter.' },
  coordinates: {
    label: 'Circle',
    help: 'Drag from the centre outwards, or set centre and edge with clicks or Enter.',
  },
  polygon: { label: 'Polygon', help: 'Set the corners with clicks or Enter, then choose Finish.' },
};
const KEYS = 'Arrow keys move the map, + and − zoom, Enter opens what is in the middle.';

/** Latitude near the edge of the map. */
const EDGE = 85.05;

interface Workplace {
  readonly map: MapLibre;
  readonly bar: HTMLElement;
  /** Filters by shapes, by their parameters; an empty text stands for none. */
  apply(shapes: Partial<Record<ShapeName, string>>): void;
  open(x: number, y: number): void;
}

export function addTools({ map, bar, apply, open }: Workplace): void {
  const drawing = new Drawing(map, apply);
  const view = button('This view', () => {
    const bounds = map.getBounds();
    const corners = [bounds.getSouthWest(), bounds.getNorthEast()];
    // what lies beyond the edge of the map is shown at it
    const places = corners.map(
      ({ lng, lat }): Place => [lng, Math.abs(lat) > EDGE ? 90 * Math.sign(lat) : lat],
    );
    apply({ bbox: textOf('bbox', places) });
  });
  const clear = button('Clear', () => apply({ bbox: '', coordinates: '', polygon: '' }));
  const zooms = [button('+', () => map.zoomIn()), button('−', () => map.zoomOut())] as const;
  zooms[0].ariaLabel = 'Zoom in';
  zooms[1].ariaLabel = 'Zoom out';
  bar.append(...zooms, ...drawing.buttons, view, clear, drawing.status);
  drawing.choose(undefined);

  map.on('click', ({ point }) => {
    if (!drawing.isPointing) open(point.x, point.y);
  });
  const canvas = map.getCanvas();
  canvas.addEventListener('focus', () => {
    if (drawing.name === undefined && canvas.matches(':focus-visible')) drawing.say(KEYS);
  });
  canvas.addEventListener('blur', () => {
    if (drawing.name === undefined) drawing.say('');
  });
  canvas.addEventListener('keydown', (event) => {
    const { key } = event;
    const { clientWidth, clientHeight } = map.getContainer();
    const [x, y] = [clientWidth / 2, clientHeight / 2];
    if (key === 'Escape') drawing.choose(undefined);
    if (key !== 'Enter') return;
    // or the key would go on to press what has the focus by then, in the popup
    event.preventDefault();
    if (drawing.name === undefined) open(x, y);
    else drawing.add({ x, y });
  });
}

export function button(label: string, act: () => void): HTMLButtonElement {
  return element('button', { type: 'button', onclick: act }, label);
}

/** Makes an element; texts become text, never markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A place on the screen, in pixels from the upper left corner of the map. */
interface Pixel {
  readonly x: number;
  readonly y: number;
}

/** Pixels that a pointer moves before it drags. */
const DRAG = 5;
const LEAST_CORNERS = 3;

/**
 * A shape that is drawn on a map by dragging, by clicks, or by Enter, which sets a place in the
 * middle, and the buttons that begin and finish it. Boxes and circles are complete with two places,
 * polygons when they are finished.
 */
class Drawing {
  name: ShapeName | undefined;
  /** Whether the last press of a pointer was meant for a drawing, even if it is complete by now. */
  isPointing = false;
  /** Says what to do. */
  readonly status: HTMLElement = element('output');
  readonly #map: MapLibre;
  readonly #apply: Workplace['apply'];
  readonly #shapes: readonly HTMLButtonElement[];
  readonly #finish: HTMLButtonElement = button('Finish', () => this.finish());
  #places: Place[] = [];
  /** Where a press began that may become a drag. */
  #pressed: Pixel | undefined;

  constructor(map: MapLibre, apply: Workplace['apply']) {
    this.#map = map;
    this.#apply = apply;
    this.#shapes = SHAPE_NAMES.map((name) =>
      button(SHAPES[name].label, () => {
        this.choose(this.name === name ? undefined : name);
        if (this.name !== undefined) map.getCanvas().focus({ preventScroll: true });
      }),
    );
    const container = map.getCanvasContainer();
    container.addEventListener('pointerdown', (event) => this.#press(event));
    container.addEventListener('pointermove', (event) => this.#preview(this.#pixelOf(event)));
    container.addEventListener('pointerup', (event) => this.#release(this.#pixelOf(event)));
  }

  get buttons(): readonly HTMLElement[] {
    return [...this.#shapes, this.#finish];
  }

  say(text: string): void {
    this.status.textContent = text;
  }

  /** Begins a shape; undefined ends drawing without one. */
  choose(name: ShapeName | undefined): void {
    this.name = name;
    this.#places = [];
    this.#pressed = undefined;
    showDraft(this.#map, []);
    // a drag that draws must not move the map
    const change = name === undefined ? 'enable' : 'disable';
    const { dragPan, boxZoom, doubleClickZoom } = this.#map;
    for (const handler of [dragPan, boxZoom, doubleClickZoom]) handler[change]();
    this.#map.getContainer().classList.toggle('drawing', name !== undefined);
    for (const [at, shape] of this.#shapes.entries()) {
      shape.ariaPressed = String(SHAPE_NAMES[at] === name);
    }
    this.#finish.hidden = name !== 'polygon';
    this.say(name === undefined ? '' : SHAPES[name].help);
  }

  add(pixel: Pixel): void {
    this.#places.push(this.#placeAt(pixel));
    if (this.name !== 'polygon' && this.#places.length === 2) this.finish();
  }

  /** Completes the shape with the places that there are. */
  finish(): void {
    const [name, places] = [this.name, this.#places];
    if (name === undefined) return;
    if (places.length < (name === 'polygon' ? LEAST_CORNERS : 2)) {
      this.say(`More places are needed. ${SHAPES[name].help}`);
      return;
    }
    this.choose(undefined);
    this.#apply({ [name]: textOf(name, places) });
  }

  #press(event: PointerEvent): void {
    this.isPointing = this.name !== undefined;
    this.#pressed = undefined;
    if (this.name === undefined) return;
    // a second finger zooms: what the first one pressed is no place
    if (!event.isPrimary) showDraft(this.#map, []);
    else if (event.button === 0) {
      this.#pressed = this.#pixelOf(event);
      // the release may come beyond the edge
      this.#map.getCanvasContainer().setPointerCapture(event.pointerId);
    }
  }

  #release(pixel: Pixel): void {
    const pressed = this.#pressed;
    this.#pressed = undefined;
    if (pressed === undefined || this.name === undefined) return;
    const isDrag = Math.hypot(pixel.x - pressed.x, pixel.y - pressed.y) > DRAG;
    if (isDrag && this.name !== 'polygon' && this.#places.length === 0) this.add(pressed);
    this.add(pixel);
  }

  /** Shows the shape as it would be with one more place. */
  #preview(pixel: Pixel): void {
    const { name } = this;
    if (name === undefined) return;
    const isPolygon = name === 'polygon';
    const isDragged = !isPolygon && this.#places.length === 0 && this.#pressed !== undefined;
    const before = isDragged ? [this.#placeAt(this.#pressed!)] : this.#places;
    if (before.length === 0) return;
    const places = [...before, this.#placeAt(pixel)];
    const outline = isPolygon ? [places] : outlineOf(name, textOf(name, places));
    showDraft(this.#map, outline?.[0] ?? []);
  }

  #placeAt({ x, y }: Pixel): Place {
    const { lng, lat } = this.#map.unproject([x, y]);
    return [lng, Math.max(-90, Math.min(90, lat))];
  }

  #pixelOf({ clientX, clientY }: PointerEvent): Pixel {
    const { left, top } = this.#map.getCanvasContainer().getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }
}
