import type { Map as MapLibre } from 'maplibre-gl';
import { Drawing } from './map-drawing.js';
import { type Place, SHAPE_NAMES, type ShapeName, textOf } from './shapes.js';

/** What is said to the person who draws a shape. */
const SHAPES: Readonly<Record<ShapeName, { label: string; help: string }>> = {
  bbox: { label: 'Box', help: 'Drag from corner to corner, or set both with clicks or Enter.' },
  coordinates: {
    label: 'Circle',
    help: 'Drag from the centre outwards, or set centre and edge with clicks or Enter.',
  },
  polygon: { label: 'Polygon', help: 'Set the corners with clicks or Enter, then choose Finish.' },
};
const KEYS = 'Arrow keys move the map, + and − zoom, Enter opens what is in the middle.';

/** What the tools work with. */
interface Workplace {
  readonly map: MapLibre;
  /** Where the buttons go. */
  readonly bar: HTMLElement;
  /** Filters by shapes, by their parameters; an empty text stands for none. */
  apply(shapes: Partial<Record<ShapeName, string>>): void;
  /** Opens what lies at a pixel of the map. */
  open(x: number, y: number): void;
}

/**
 * Adds the buttons and keys of a map: zoom, shapes to draw, what is shown as a box, and clearing
 * all of them.
 */
export function addTools({ map, bar, apply, open }: Workplace): void {
  const status = document.createElement('output');
  const say = (text: string): void => {
    status.textContent = text;
  };
  const drawing = new Drawing(map, {
    chosen(name) {
      for (const [one, shape] of shapes) shape.setAttribute('aria-pressed', String(one === name));
      finish.hidden = name !== 'polygon';
      map.getContainer().classList.toggle('drawing', name !== undefined);
      say(name === undefined ? '' : SHAPES[name].help);
    },
    short: (name) => say(`More places are needed. ${SHAPES[name].help}`),
    drawn: (name, text) => apply({ [name]: text }),
  });
  const shapes = SHAPE_NAMES.map((name) => {
    const toggle = (): void => {
      drawing.choose(drawing.name === name ? undefined : name);
      if (drawing.name !== undefined) map.getCanvas().focus({ preventScroll: true });
    };
    return [name, button(SHAPES[name].label, toggle)] as const;
  });
  const finish = button('Finish', () => drawing.finish());
  const view = button('This view', () => {
    const bounds = map.getBounds();
    const corners = [bounds.getSouthWest(), bounds.getNorthEast()];
    const places = corners.map(({ lng, lat }): Place => [lng, lat]);
    apply({ bbox: textOf('bbox', places) });
  });
  const clear = button('Clear', () => apply({ bbox: '', coordinates: '', polygon: '' }));
  const zooms = [button('+', () => map.zoomIn()), button('−', () => map.zoomOut())] as const;
  zooms[0].ariaLabel = 'Zoom in';
  zooms[1].ariaLabel = 'Zoom out';
  bar.append(...zooms, ...shapes.map(([, shape]) => shape), finish, view, clear, status);
  drawing.choose(undefined);

  map.on('click', ({ point }) => {
    if (!drawing.isPointing) open(point.x, point.y);
  });
  const canvas = map.getCanvas();
  canvas.addEventListener('focus', () => {
    if (drawing.name === undefined && canvas.matches(':focus-visible')) say(KEYS);
  });
  canvas.addEventListener('blur', () => {
    if (drawing.name === undefined) say('');
  });
  canvas.addEventListener('keydown', ({ key }) => {
    const { clientWidth, clientHeight } = map.getContainer();
    const [x, y] = [clientWidth / 2, clientHeight / 2];
    if (key === 'Escape') drawing.choose(undefined);
    else if (key !== 'Enter') return;
    else if (drawing.name === undefined) open(x, y);
    else drawing.add({ x, y });
  });
}

function button(label: string, act: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = label;
  made.addEventListener('click', act);
  return made;
}
