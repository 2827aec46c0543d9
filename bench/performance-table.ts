import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableText } from './report/markdown.js';
import { describeReport, goalsTable, peersTable, reportTables } from './report/tables.js';
import type { Report } from './report/types.js';
import { plainCommand, runMain, say } from './support/run.js';

const DOCUMENT = join(import.meta.dirname, '../../docs/performance.md');

const command = plainCommand(
  'performance-table',
  'Refreshes the tables of docs/performance.md, between its two marks, from a report.',
)
  .argument('<report>', 'JSON file that bench/suite wrote')
  .option('--out <file>', 'document to refresh', DOCUMENT);

/** Replaces what stands between the marks `<!-- bench:begin -->` and `<!-- bench:end -->`. */
export function refresh(document: string, report: Report): string {
  const [before, rest] = cut(document, '<!-- bench:begin -->');
  const [, after] = cut(rest, '<!-- bench:end -->');
  const { peers } = report.parts;
  const chosen = reportTables(report).filter(({ title }) =>
    [
      'Loading',
      'Pack and verify',
      'Reloads under load',
      'Accepting points',
      'Ten times the points',
      'Vector tiles',
      'The slowest queries that a search finds',
      'The queries that hold a thread longest, of those that a search finds',
    ].includes(title),
  );
  const sections = [
    `Measured: ${describeReport(report)}.`,
    `## What it must reach\n\n${tableText(goalsTable(report.parts))}`,
    ...(peers === undefined
      ? []
      : [`## Beside what else there is\n\n${tableText(peersTable(peers.results))}`]),
    ...chosen.map((table) => `## ${table.title}\n\n${tableText(table)}`),
  ];
  return `${before}<!-- bench:begin -->\n${sections.join('\n\n')}\n<!-- bench:end -->${after}`;
}

function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`The document has no ${mark}.`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** Entry: reads the report, rewrites the document. */
async function main(): Promise<void> {
  command.parse();
  const { out } = command.opts<{ out: string }>();
  const report = JSON.parse(readFileSync(command.args[0]!, 'utf8')) as Report;
  writeFileSync(out, refresh(readFileSync(out, 'utf8'), report));
  say('refreshed');
}

await runMain(import.meta, main);
