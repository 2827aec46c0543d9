import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './service.js';

/** A file of the project; the path is relative to `ROOT`. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** The text of a file, by its path relative to `ROOT`. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every Markdown file of the project. */
export function documents(): Document[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const kept = ['docs', 'data', 'deploy', 'bench'].flatMap((folder) => files(folder, '.md'));
  return [...top, ...kept].map((path) => ({ path, text: read(path) }));
}

export function sourceFiles(): Document[] {
  return files('src', '.ts').map((path) => ({ path, text: read(path) }));
}

/** The text under a heading of level two, up to the next one. Throws when there is none. */
export function section(text: string, title: string): string {
  const found = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (found === undefined) throw new Error(`there is no section ${title}`);
  return found;
}

/** The address of the service that documents show. */
export const SHOWN = 'http://127.0.0.1:8080';

/** The code of one language in a section of a document, changed to ask `site`. */
export function codeIn(path: string, title: string, language: string, site: string): string[] {
  const blocks = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms');
  const found = section(read(path), title).matchAll(blocks);
  return [...found].map(([, text]) => text!.replaceAll(SHOWN, site));
}

/** The cells of all table rows in a text, without the head rows. */
export function rows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const isRule = (line: string | undefined): boolean => /^\|[-| :]+\|$/.test(line ?? '');
  return lines
    .filter((line, at) => !isRule(line) && !isRule(lines[at + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** The text of the only code span of a table's cell. */
export function code(cell: string | undefined): string {
  return /^`([^`]*)`$/.exec(cell ?? '')?.[1] ?? `no code: ${cell}`;
}

/** The anchors that GitHub makes for headings. */
export function headings(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

function files(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !/\.cache|results/.test(name))
    .map((name) => join(folder, name));
}

const ENTITIES: Attributes = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

/** The text of HTML that has no tags, as a browser shows it. */
export function shownText(html: string): string {
  return html.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name]!);
}

export function jsonOfPage<T = unknown>(html: string): T {
  const shown = /<pre class="json"[^>]*>(.*?)<\/pre>/s.exec(html)![1]!.replaceAll(/<[^>]*>/g, '');
  return JSON.parse(shownText(shown.slice(shown.indexOf('\n\n')))) as T;
}

export type Attributes = Readonly<Record<string, string>>;

export function tags(html: string, name: string): Attributes[] {
  return [...html.matchAll(new RegExp(`<${name}\\b([^>]*)>`, 'g'))].map(([, text]) =>
    Object.fromEntries(
      [...text!.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, key, value = '']) => [
        key,
        shownText(value),
      ]),
    ),
  );
}
