import { readFileSync } from 'node:fs';

/** A city: latitude and longitude in degrees, country as ISO 3166-1 alpha-2. */
export type City = readonly [
  name: string,
  country: string,
  lat: number,
  lon: number,
  population: number,
];

/** What people write in one language: any `what` goes with any `where`, `close` and `reply`. */
export interface Voice {
  /** Has `{what}` and `{where}` in it. */
  readonly sentence: string;
  /** Between two sentences. */
  readonly space: string;
  readonly what: readonly string[];
  readonly where: readonly string[];
  readonly close: readonly string[];
  /** What comes back from others. */
  readonly reply: readonly string[];
}

/** What notes are made of. */
interface Words {
  readonly tags: readonly string[];
  /** How names of images begin. */
  readonly images: readonly string[];
  readonly emoji: readonly string[];
  /**
   * Text that breaks careless escaping, quoting, splitting or counting of characters, around
   * `{text}`.
   */
  readonly odd: readonly string[];
  /** Finnish, Swedish, English and Japanese. */
  readonly voices: readonly Voice[];
}

/** The largest of the world and of Finland, largest first. */
export const CITIES: readonly City[] = (read('cities') as { cities: readonly City[] }).cities;

export const WORDS: Words = read('words') as Words;

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../assets/${name}.json`, import.meta.url), 'utf8'));
}
