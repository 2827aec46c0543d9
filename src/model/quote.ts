import { readFileSync } from 'node:fs';

/** Characters of a value that a message shows. */
const MOST_SHOWN = 60;

/**
 * What JSON leaves as it is, and by which a stranger's text could steer the terminal that shows it,
 * or turn round the words beside it; and what nobody sees, such as a byte order mark.
 */
const STEERING = /[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** A value as messages show it: in quotes, with escapes, and cut where it is long. */
export function quote(text: string): string {
  return inert(JSON.stringify(cut(text)));
}

/** Text with such characters as escapes. */
export function inert(text: string): string {
  return text.replace(
    STEERING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A value that has quotes of its own, cut where it is long. */
export function cut(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/**
 * Text that may hold parts of a stranger's file, as a terminal may get it: what could command the
 * terminal is shown as U+FFFD, and line ends stay.
 */
export function forTerminal(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '\ufffd');
}

/**
 * A value of any kind as messages show it, cut where it is long; no more of it is read than is
 * shown, and nothing of it is called.
 */
export function show(value: unknown): string {
  return inert(cut(preview(value, MOST_SHOWN + 1)));
}

function preview(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key in value) {
    if (text.length >= room) return text;
    if (text.length > 1) text += ',';
    if (!isList) text += `${JSON.stringify(key.slice(0, room))}:`;
    text += preview((value as Record<string, unknown>)[key], room - text.length);
  }
  return text + (isList ? ']' : '}');
}

/**
 * A snapshot, notifications or settings file that cannot be used: the message names the file, what
 * is wrong and, where there is one, the way out. Shown to people as it is, without a stack.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** The version of Waypost, as its package says. */
export function version(): string {
  const path = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
