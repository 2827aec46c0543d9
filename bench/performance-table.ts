import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goalsTable } from './report/goals.js';
import { type Report, reportTables, reportText } from './report/report.js';
import { plainCommand, runMain, say } from './support/run.js';

const DOCUMENT = join(import.meta.dirname, '../../docs/performance.md');
/** Titles of the tables that the document leaves out. */
const LEFT_OUT = /^(?:Scenarios|Queries)/;
const MARKS = /(?<=<!-- bench:begin -->\n).*(?=<!-- bench:end -->)/s;

const command = plainCommand(
  'performance-table',
  'Refreshes the tables of docs/performance.md, between its two marks, from a report.',
).argument('<report>', 'JSON file that bench/suite wrote');

async function main(): Promise<void> {
  const report = JSON.parse(readFileSync(command.parse().args[0]!, 'utf8')) as Report;
  const document = readFileSync(DOCUMENT, 'utf8');
  if (!MARKS.test(document)) throw new Error('The document has no marks.');
  const tables = reportTables(report).filter(({ title }) => !LEFT_OUT.test(title));
  const text = reportText(report, [goalsTable(report.parts), ...tables]);
  writeFileSync(
    DOCUMENT,
    document.replace(MARKS, () => `${text}\n`),
  );
  say('refreshed');
}

await runMain(import.meta, main);
