import type { Point } from '../../model/point.js';
import { readAsset } from '../../model/quote.js';
import { UNITS_PER_DEGREE } from '../../model/units.js';
import { createdAt, modifiedAt, place } from './places.js';
import { cumulative, permutation, Random } from './random.js';

const START_OF_2023 = Date.UTC(2023, 0, 1) * 1000;
/** With three tenths of the points created in 2023, about 9 % of all are open. */
const OPEN_IN_2023 = 0.29;
const USERS = 4000;

/**
 * Makes the points of one seed, with ids from 1 to `count`, at most MAX_POINTS, in no order of time
 * or place. Each is made from the seed and its index alone: points take no memory, and can be asked
 * for in any order.
 */
export function inventPoints(seed: number, count: number): (index: number) => Point {
  const idOf = permutation(seed, count);
  const random = new Random(seed, 'point');
  return (index) => {
    random.restart(index);
    const id = idOf(index) + 1;
    const { lat, lon, country } = place(random);
    const created = createdAt(random);
    const modified = modifiedAt(random, created);
    return {
      id,
      status: created.micros >= START_OF_2023 && random.chance(OPEN_IN_2023) ? 'OPEN' : 'NEW',
      comment: comment(random, country),
      image: random.chance(0.17) ? image(random, id) : undefined,
      lat: (lat / UNITS_PER_DEGREE).toFixed(8),
      lon: (lon / UNITS_PER_DEGREE).toFixed(8),
      isProcessed: random.chance(0.35),
      createdBy: random.chance(0.3) ? user(random) : undefined,
      tags: random.chance(0.66) ? tags(random) : undefined,
      createdAt: created,
      modifiedAt: modified,
    };
  };
}

function user(random: Random): number {
  const share = random.next();
  return 1 + Math.floor(share * share * USERS);
}

function image(random: Random, id: number): string {
  const name = `${random.pick(WORDS.images)}_${1000 + random.int(9000)}`;
  return `/media/map_data_points/${id}/${name}.jpg`;
}

/** One to three different tags; a quarter carry a number. */
function tags(random: Random): string[] {
  const first = random.int(WORDS.tags.length);
  const share = random.next();
  const count = share < 0.6 ? 1 : share < 0.9 ? 2 : 3;
  return Array.from({ length: count }, (_, i) => {
    // 7 shares no factor with the length of the list, so that no tag comes twice
    const tag = WORDS.tags[(first + 7 * i) % WORDS.tags.length]!;
    return random.chance(0.25) ? `${tag} ${1 + random.int(10)}` : tag;
  });
}

/** A comment in a language of the country; empty for about a quarter. */
function comment(random: Random, country: string): string {
  if (random.chance(0.24)) return '';
  const voice = random.weighted(cumulative(WORDS.languages[country] ?? WORDS.elsewhere));
  const { sentence, space, what, where, close } = WORDS.voices[voice]!;
  const kind = random.next();
  // a few people write pages
  const length = kind < 0.004 ? 8 + random.int(24) : 1;
  const sentences = Array.from({ length }, () =>
    // no word has a `$`, which `replace` would expand
    sentence.replace('{what}', random.pick(what)).replace('{where}', random.pick(where)),
  );
  if (random.chance(0.45)) sentences.push(random.pick(close));
  const text = sentences.join(space);
  if (kind > 0.94) return `${text} ${random.pick(WORDS.emoji)}`;
  return kind > 0.9 ? random.pick(WORDS.odd).replace('{text}', text) : text;
}

/** Phrases of one language: any `what` goes with any `where` and `close`. */
interface Voice {
  /** Has `{what}` and `{where}` in it. */
  readonly sentence: string;
  readonly space: string;
  readonly what: readonly string[];
  readonly where: readonly string[];
  readonly close: readonly string[];
}

interface Words {
  readonly tags: readonly string[];
  readonly images: readonly string[];
  readonly emoji: readonly string[];
  /** Text that breaks careless escaping or counting of characters, around `{text}`. */
  readonly odd: readonly string[];
  readonly voices: readonly Voice[];
  /** How many of a hundred comments are in each of the voices, by country. */
  readonly languages: Readonly<Record<string, readonly number[]>>;
  readonly elsewhere: readonly number[];
}

const WORDS: Words = JSON.parse(readAsset('words.json'));
