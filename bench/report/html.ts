import { reportCharts } from './charts.js';
import { escapeHtml } from './escape.js';
import { STYLE } from './style.js';
import { describeReport, type ReportTable, reportTables } from './tables.js';
import type { Report } from './types.js';

/** A verdict has a sign besides its colour, for readers who do not tell the colours apart. */
const SIGNS: Readonly<Record<string, readonly [kind: string, sign: string]>> = {
  'aim reached': ['good', '✓✓'],
  reached: ['fair', '✓'],
  missed: ['bad', '✗'],
  'not measured': ['none', '–'],
};

/** A report as one HTML page that loads nothing. */
export function toHtml(report: Report): string {
  const charts = reportCharts(report.parts);
  const sections = reportTables(report).map((table) => {
    const own = charts.filter((chart) => chart.table === table.title).map(({ svg }) => svg);
    return section(table, own);
  });
  const about = escapeHtml(describeReport(report)).replace(/`(.*)`/, '<code>$1</code>');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Waypost, measured</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header><h1>Waypost, measured</h1><p>${about}</p></header>
${sections.join('\n')}
</main>
</body>
</html>
`;
}

function section(table: ReportTable, charts: readonly string[]): string {
  const isGoals = table.title === 'Goals';
  const html = tableHtml(table);
  const body = charts.length === 0 ? html : `<details><summary>Figures</summary>${html}</details>`;
  return (
    `<section${isGoals ? ' class="goals"' : ''}><h2>${escapeHtml(table.title)}</h2>` +
    `<p>${escapeHtml(table.note)}</p>${charts.join('')}${body}</section>`
  );
}

function tableHtml({ head, rows }: ReportTable): string {
  const titles = head.map((title) => `<th>${escapeHtml(title)}</th>`).join('');
  const lines = rows.map((row) => `<tr>${row.map(cellHtml).join('')}</tr>`);
  return `<div class="scroll"><table><thead><tr>${titles}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

function cellHtml(text: string): string {
  const verdict = SIGNS[text];
  if (verdict !== undefined) {
    return `<td><span class="verdict ${verdict[0]}">${verdict[1]} ${text}</span></td>`;
  }
  return `<td${/^[−-]?[≤\d]/.test(text) ? ' class="number"' : ''}>${escapeHtml(text)}</td>`;
}
