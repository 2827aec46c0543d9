import type { Map as MapLibre } from 'maplibre-gl';
import { showDraft } from './map-layers.js';
import { outlineOf, type Place, type ShapeName, textOf } from './shapes.js';

/** A place on the screen, in pixels from the upper left corner of the map. */
interface Pixel {
  readonly x: number;
  readonly y: number;
}

/** What a drawing tells whoever started it. */
interface DrawingEvents {
  /** Another shape is drawn from now on; undefined: none. */
  chosen(name: ShapeName | undefined): void;
  /** The places do not make the shape yet. */
  short(name: ShapeName): void;
  /** A shape is complete: its parameter and what it is in text. */
  drawn(name: ShapeName, text: string): void;
}

/** Pixels that a pointer moves before it drags. */
const DRAG = 5;
const LEAST_CORNERS = 3;

/**
 * A shape that comes about on a map, by dragging, by clicks, or by the Enter key, which sets a
 * place in the middle of the map. Boxes and circles are complete with two places, polygons when
 * they are finished.
 */
export class Drawing {
  readonly #map: MapLibre;
  readonly #events: DrawingEvents;
  #name: ShapeName | undefined;
  #places: Place[] = [];
  /** Where a press began that may become a drag. */
  #pressed: Pixel | undefined;
  #isPointing = false;

  constructor(map: MapLibre, events: DrawingEvents) {
    this.#map = map;
    this.#events = events;
    const container = map.getCanvasContainer();
    container.addEventListener('pointerdown', (event) => this.#press(event));
    container.addEventListener('pointermove', (event) => this.#preview(this.#pixelOf(event)));
    container.addEventListener('pointerup', (event) => this.#release(this.#pixelOf(event)));
  }

  /** Whether the last press of a pointer was meant for a drawing, even if it is complete by now. */
  get isPointing(): boolean {
    return this.#isPointing;
  }

  get name(): ShapeName | undefined {
    return this.#name;
  }

  /** Begins a shape; undefined ends drawing without one. */
  choose(name: ShapeName | undefined): void {
    this.#name = name;
    this.#places = [];
    this.#pressed = undefined;
    showDraft(this.#map, []);
    // what draws must not move the map
    const change = name === undefined ? 'enable' : 'disable';
    const { dragPan, boxZoom, doubleClickZoom } = this.#map;
    for (const handler of [dragPan, boxZoom, doubleClickZoom]) handler[change]();
    this.#events.chosen(name);
  }

  /** Sets a place. */
  add({ x, y }: Pixel): void {
    const { lng, lat } = this.#map.unproject([x, y]);
    this.#places.push([lng, Math.max(-90, Math.min(90, lat))]);
    if (this.#name !== 'polygon' && this.#places.length === 2) this.finish();
  }

  /** Completes the shape with the places that there are. */
  finish(): void {
    const [name, places] = [this.#name, this.#places];
    if (name === undefined) return;
    if (places.length < (name === 'polygon' ? LEAST_CORNERS : 2)) {
      this.#events.short(name);
      return;
    }
    this.choose(undefined);
    this.#events.drawn(name, textOf(name, places));
  }

  #press(event: PointerEvent): void {
    this.#isPointing = this.#name !== undefined;
    if (this.#name === undefined || event.button !== 0) return;
    this.#pressed = this.#pixelOf(event);
    if (this.#name !== 'polygon') this.add(this.#pressed);
  }

  #release(pixel: Pixel): void {
    const pressed = this.#pressed;
    this.#pressed = undefined;
    if (pressed === undefined || this.#name === undefined) return;
    const isDrag = Math.hypot(pixel.x - pressed.x, pixel.y - pressed.y) > DRAG;
    if (this.#name === 'polygon' || isDrag) this.add(pixel);
  }

  /** Shows the shape as it would be with one more place. */
  #preview({ x, y }: Pixel): void {
    if (this.#name === undefined || this.#places.length === 0) return;
    const { lng, lat } = this.#map.unproject([x, y]);
    const places: Place[] = [...this.#places, [lng, lat]];
    const isPolygon = this.#name === 'polygon';
    const outline = isPolygon ? [places] : outlineOf(this.#name, textOf(this.#name, places));
    showDraft(this.#map, outline?.[0] ?? []);
  }

  #pixelOf({ clientX, clientY }: PointerEvent): Pixel {
    const { left, top } = this.#map.getCanvasContainer().getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }
}
