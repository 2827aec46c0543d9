import type { FeatureCollection } from './geojson.js';
import { scatterNotes } from './notes.js';
import { type NotesApp, startNotes } from './notes-app.js';

/** Notes that may be accepted. */
const MORE = 1_000;

/** A web server in this process whose points stand in any order of ids. */
export interface OgcApp extends Omit<NotesApp, 'accept'> {
  /** Lets some more points be accepted. */
  accept(count: number): void;
}

export async function startOgc(points: number): Promise<OgcApp> {
  const notes = scatterNotes(41, points + MORE);
  const app = await startNotes(notes.slice(0, points));
  let count = points;
  return {
    ...app,
    accept(more) {
      // as a service numbers them: above all others but one
      const next = notes
        .slice(count, count + more)
        .map((note, i) => ({ ...note, id: 1_000_000 + count + i }));
      app.accept(next);
      count += more;
    },
  };
}

/** The Features of all pages, from an address on. */
export async function allItems(
  get: OgcApp['get'],
  path: string,
  onPage: (text: string) => void | Promise<void> = () => {},
): Promise<FeatureCollection['features'][number][]> {
  const features = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { text } = await get(next);
    await onPage(text);
    const page = JSON.parse(text) as FeatureCollection;
    features.push(...page.features);
    const link = page.links.find(({ rel }) => rel === 'next');
    const url = link && new URL(link.href);
    next = url && url.pathname + url.search;
  }
  return features;
}
