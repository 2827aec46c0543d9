import { markdownTable } from '../support/table.js';
import { describeReport, type ReportTable, reportTables } from './tables.js';
import type { Report } from './types.js';

/** A report as Markdown. */
export function toMarkdown(report: Report): string {
  const sections = reportTables(report).map((table) => `## ${table.title}\n\n${tableText(table)}`);
  return `# Waypost, measured\n\n${describeReport(report)}\n\n${sections.join('\n\n')}\n`;
}

/** A table with its note. */
export function tableText({ note, head, rows }: ReportTable): string {
  return `${note}\n\n${markdownTable(head, rows)}`;
}
