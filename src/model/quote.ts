/** Characters of a value that a message shows. */
const MOST_SHOWN = 60;

/** A value as messages show it: in quotes, with escapes, and cut where it is long. */
export function quote(text: string): string {
  return JSON.stringify(cut(text));
}

/** A value that has quotes of its own, cut where it is long. */
export function cut(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}
