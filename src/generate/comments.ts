import { type Voice, WORDS } from './material.js';
import { cumulative, type Random } from './random.js';

/** Weights of the languages by country; elsewhere people write English. */
const FINLAND = cumulative([74, 14, 11, 1]);
const LANGUAGES = new Map([
  ['FI', FINLAND],
  ['SE', cumulative([3, 80, 17, 0])],
  ['JP', cumulative([0, 0, 15, 85])],
]);
const ELSEWHERE = cumulative([2, 1, 95, 2]);

/** A comment as someone in the country might leave it; the empty string for about a quarter. */
export function comment(random: Random, country: string): string {
  if (random.chance(0.24)) return '';
  const voice = WORDS.voices[random.weighted(LANGUAGES.get(country) ?? ELSEWHERE)]!;
  const kind = random.next();
  // a few people write pages
  const sentences = kind < 0.004 ? 8 + random.int(24) : 1;
  let text = sentence(random, voice);
  for (let more = 1; more < sentences; more++) text += voice.space + sentence(random, voice);
  if (random.chance(0.45)) text += voice.space + random.pick(voice.close);
  if (kind > 0.94) text += ` ${random.pick(WORDS.emoji)}`;
  else if (kind > 0.9) return filled(random.pick(WORDS.odd), { text });
  return text;
}

/** A short answer to somebody's comment. */
export function reply(random: Random): string {
  return random.pick(WORDS.voices[random.weighted(FINLAND)]!.reply);
}

function sentence(random: Random, { sentence, what, where }: Voice): string {
  return filled(sentence, { what: random.pick(what), where: random.pick(where) });
}

/** The template with these texts in place of their names in braces. */
function filled(template: string, texts: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => texts[name]!);
}
