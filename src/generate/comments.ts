import type { Random } from './random.js';
import { cumulative } from './random.js';
import { ENGLISH, FINNISH, JAPANESE, SWEDISH, type Voice } from './words.js';

/** Weights of Finnish, Swedish, English and Japanese by country; elsewhere people write English. */
const VOICES: readonly Voice[] = [FINNISH, SWEDISH, ENGLISH, JAPANESE];
const FINLAND = cumulative([74, 14, 11, 1]);
const LANGUAGES = new Map([
  ['FI', FINLAND],
  ['SE', cumulative([3, 80, 17, 0])],
  ['JP', cumulative([0, 0, 15, 85])],
]);
const ELSEWHERE = cumulative([2, 1, 95, 2]);

const EMOJI: readonly string[] = [
  '🙂',
  '👍',
  '🚲',
  '🌳',
  '⚠️',
  '🙏',
  '❄️',
  '🐶',
  '💡',
  '👨‍👩‍👧',
  '🇫🇮',
  '♿',
];

/** Text that breaks careless escaping, quoting, splitting or counting of characters. */
const ODD: readonly ((text: string) => string)[] = [
  (text) => `"${text}" – naapuri`,
  (text) => `${text} (C:\\kuvat\\piha.jpg)`,
  (text) => `1.\t${text}\t!!`,
  (text) => `<b>${text}</b>`,
  (text) => `${text}\n\nT: 'Matti & Maija'`,
  (text) => `<script>alert("${text}")</script>`,
  (text) => `${text}\r\nPS. 50 % {}, [1;2], \\u0041`,
  (text) => `\u2028${text}\u200d\u0301`,
];

/** A comment as someone in the country might leave it; the empty string for about a quarter. */
export function comment(random: Random, country: string): string {
  if (random.chance(0.24)) return '';
  const voice = VOICES[random.weighted(LANGUAGES.get(country) ?? ELSEWHERE)]!;
  const kind = random.next();
  // a few people write pages
  const sentences = kind < 0.004 ? 8 + random.int(24) : 1;
  let text = sentence(random, voice);
  for (let more = 1; more < sentences; more++) text += voice.space + sentence(random, voice);
  if (random.chance(0.45)) text += voice.space + random.pick(voice.close);
  if (kind > 0.94) text += ` ${random.pick(EMOJI)}`;
  else if (kind > 0.9) text = random.pick(ODD)(text);
  return text;
}

/** A short answer to somebody's comment. */
export function reply(random: Random): string {
  return random.pick(VOICES[random.weighted(FINLAND)]!.reply);
}

function sentence(random: Random, voice: Voice): string {
  return voice.sentence(random.pick(voice.what), random.pick(voice.where));
}
