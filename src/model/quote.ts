import { readFileSync } from 'node:fs';

const MOST_SHOWN = 60;

/**
 * Characters that JSON does not escape, but that steer a terminal, change the direction of text, or
 * are invisible, such as a byte order mark.
 */
const STEERING = /[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** A text for messages: in quotes, with escapes, and cut where it is long. */
export function quote(text: string): string {
  return inert(JSON.stringify(cut(text)));
}

/** Escapes {@link STEERING} characters. */
export function inert(text: string): string {
  return text.replace(
    STEERING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function sentence(reason: string): string {
  return `${reason[0]!.toUpperCase()}${reason.slice(1)}.`;
}

export function cut(text: string, most: number = MOST_SHOWN): string {
  if (text.length <= most) return text;
  // no half of a character
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Text with parts of a stranger's file, for a terminal: control characters become U+FFFD. */
export function forTerminal(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '\ufffd');
}

/** A value of any kind for messages. No more of it is read than is shown, and nothing is called. */
export function show(value: unknown): string {
  return inert(cut(preview(value, MOST_SHOWN + 1)));
}

function preview(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (typeof value !== 'object' || value === null) return String(value);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes that are no text`;
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
 * A file, address or setting that cannot be used. The message is shown to people as it is, without
 * a stack: it names the input, what is wrong and, where there is one, the cure.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** The text of a file of the folder `assets`. */
export function readAsset(name: string): string {
  return readFileSync(new URL(`../../../assets/${name}`, import.meta.url), 'utf8');
}

export function version(): string {
  const path = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
