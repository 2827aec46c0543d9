/** Lays out rows as a text table: the first column to the left, the others to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, i) =>
        i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join(
    '\n',
  );
}

/** The same as Markdown. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
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

/** Bytes as `12.3 MB`. */
export function size(bytes: number): string {
  return bytes >= 1e9 ? `${digits(bytes / 1e9)} GB` : `${digits(bytes / 1e6)} MB`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
