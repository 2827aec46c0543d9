import type { Spread } from './stats.js';

export interface Table {
  readonly title: string;
  /** What a reader must know to read it. */
  readonly note: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table for a terminal: the first column to the left, the others to the right. */
export function terminalTable({ title, note, head, rows }: Table): string {
  const widths = head.map((name, i) =>
    Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, i) =>
        i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [`\n${title}\n${note}`, line(head), rule, ...rows.map(line)].join('\n');
}

export function markdownSection({ title, note, head, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'));
  return [`## ${title}\n\n${note}\n`, line(head), line(rule), ...rows.map(line)].join('\n');
}

/** A table of figures, each by the least, mean, most and deviation of its rounds. */
export function spreadTable(
  title: string,
  note: string,
  figures: readonly (readonly [what: string, Spread])[],
): Table {
  const rows = figures.map(([what, { min, mean, max, deviation }]) => [
    what,
    ...[min, mean, max, deviation].map(digits),
  ]);
  return { title, note, head: ['what', 'least', 'mean', 'most', 'deviation'], rows };
}

/** Three digits that count: `12,300`, `12.3`, `0.0123`. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return size === 0 ? '0' : value.toFixed(size >= 1 ? 2 : 3);
}

export function plusMinus({ median, deviation }: Spread): string {
  return `${digits(median)} ± ${digits(deviation)}`;
}

/** Bytes as `12.3 MB`. */
export function size(bytes: number): string {
  return bytes >= 1e9 ? `${digits(bytes / 1e9)} GB` : `${digits(bytes / 1e6)} MB`;
}
