import { buildDataset } from '../../src/dataset/build.js';
import { appendToTail, createTail } from '../../src/dataset/tail.js';
import { createGeneration } from '../../src/live/generation.js';
import { type OwnApp, startApp } from './app.js';
import { type Asked, ask, type Reply } from './client.js';
import { acceptedOf, readerOf } from './engine.js';
import type { FeatureCollection } from './geojson.js';
import { scatterNotes } from './notes.js';

const CAPACITY = { rows: 1_000, bytes: 1_000_000 };

/** A web server in this process whose points stand in any order of ids. */
export interface OgcApp extends OwnApp {
  get(path: string, asked?: Asked): Promise<Reply>;
  /** Lets some more points be accepted. */
  accept(count: number): void;
}

export async function startOgc(points: number): Promise<OgcApp> {
  const notes = scatterNotes(41, points + CAPACITY.rows);
  const tail = createTail(CAPACITY);
  const dataset = await buildDataset(readerOf(notes.slice(0, points)));
  const parts = { dataset, extra: [], digest: 'ogc', loadedAt: 0, tail };
  const app = await startApp({ generation: createGeneration(parts) });
  let count = points;
  return {
    ...app,
    get: (path, asked) =>
      ask(app.port, path, { ...asked, headers: { Connection: 'close', ...asked?.headers } }),
    accept(more) {
      // as a service numbers them: above all others but one
      const next = notes
        .slice(count, count + more)
        .map((note, i) => ({ ...note, id: 1_000_000 + count + i }));
      appendToTail(tail, acceptedOf(next, count));
      count += more;
    },
  };
}

/** The Features of all pages, from an address on. */
export async function allItems(
  get: OgcApp['get'],
  path: string,
  onPage: (text: string) => void = () => {},
): Promise<FeatureCollection['features'][number][]> {
  const features = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { text } = await get(next);
    onPage(text);
    const page = JSON.parse(text) as FeatureCollection;
    features.push(...page.features);
    const link = page.links.find(({ rel }) => rel === 'next');
    const url = link && new URL(link.href);
    next = url && url.pathname + url.search;
  }
  return features;
}
