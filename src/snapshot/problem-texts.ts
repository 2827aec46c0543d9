import type { RecordProblem } from './snapshot.js';

/** One text for each record that has problems: its place, then all that is wrong with it. */
export function problemTexts(problems: readonly RecordProblem[]): string[] {
  const texts = new Map<string, string>();
  for (const { place, field, reason } of problems) {
    const before = texts.get(place);
    texts.set(place, `${before === undefined ? `${place}: ` : `${before}; `}${field}: ${reason}`);
  }
  return [...texts.values()];
}
