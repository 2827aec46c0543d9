import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goalsTable } from './report/goals.js';
import { type Parts, type Report, reportTables, reportText } from './report/report.js';
import {
  describeRun,
  ENDING_SIGNALS,
  names,
  plainCommand,
  positiveNumber,
  runMain,
  SMOKE_HELP,
  say,
} from './support/run.js';
import { dieTogether, temporaryFolder } from './support/service.js';
import { terminalTable } from './support/table.js';

interface Options {
  readonly smoke: boolean;
  readonly large: boolean;
  readonly only?: readonly string[];
  readonly minutes?: number;
  readonly out: string;
}

/** A script of the suite, its arguments, and about how long it takes on two cores. */
interface Step {
  readonly part: keyof Parts;
  readonly script: string;
  readonly args: readonly string[];
  readonly seconds: number;
  /** With --large. */
  readonly largeSeconds: number;
}

const RESULTS = join(import.meta.dirname, '../../bench/results');
const MINUTES = 10;
const LARGE_MINUTES = 60;
/** Longer titles of goals are cut on a terminal. */
const TITLE_WIDTH = 90;

/** What the peers are not asked for, and small boxes, by which batches are judged. */
const BATCHES = ['--batch', '100', '--scenarios', 'small-box,tiles,time,deep-pages,mix'];
const SCALE = ['--beside', '10000000', '--scenarios', 'small-box,nearby,tiles'];

/**
 * The most important first, as a run may end early. Steps of 0 seconds run with --large, or by
 * name: otherwise they would keep the others from being done within {@link MINUTES}.
 */
const STEPS: readonly Step[] = [
  step('peers', 220, 220),
  step('load', 105, 300, '--large'),
  step('reload', 90, 90),
  step('post', 70, 70),
  step('export', 65, 65),
  { ...step('http', 50, 50), args: BATCHES },
  { ...step('http', 0, 30), part: 'open', args: ['--rate', '1000'] },
  step('tiles', 0, 900, '--large'),
  step('query', 0, 300, '--large'),
  { ...step('http', 0, 120), part: 'scale', args: SCALE },
];

function step(part: Step['part'], seconds: number, largeSeconds: number, ...large: string[]): Step {
  return { part, script: part, args: large, seconds, largeSeconds };
}

const command = plainCommand('suite', 'Runs the benches and writes a report: JSON and Markdown.')
  .option('--smoke', SMOKE_HELP, false)
  .option(
    '--large',
    `10,000,000 points as well: needs 20 GB of memory, and ${LARGE_MINUTES} minutes`,
    false,
  )
  .option('--only <parts>', `with commas: ${STEPS.map(({ part }) => part)}`, names)
  .option('--minutes <number>', 'a part that is not done by then is left out', positiveNumber)
  .option('--out <folder>', 'where reports go', RESULTS);

/** Runs each part in a process of its own, then writes the report of those that are done. */
async function main(): Promise<void> {
  const options = command.parse().opts<Options>();
  const { smoke, large, only, minutes = large ? LARGE_MINUTES : MINUTES } = options;
  const unknown = only?.filter((name) => STEPS.every(({ part }) => part !== name)) ?? [];
  if (unknown.length > 0) throw new Error(`--only ${only}: there is no part ${unknown[0]}`);
  const steps = STEPS.filter(({ part, seconds }) =>
    only === undefined ? seconds > 0 || large : only.includes(part),
  );
  const ending = new AbortController();
  // a terminal signals the whole process group, a `kill` this process alone
  for (const signal of ENDING_SIGNALS) {
    process.once(signal, () => ending.abort(`ended by ${signal}`));
  }
  const timer = setTimeout(() => ending.abort(`${minutes} minutes are over`), minutes * 60_000);
  const parts: Record<string, unknown> = {};
  const folder = temporaryFolder('suite');
  for (const [index, { part, script, args }] of steps.entries()) {
    const time = large ? 'largeSeconds' : 'seconds';
    const left = steps.slice(index).reduce((sum, one) => sum + one[time], 0);
    const rest = steps.slice(index + 1).map((step) => step.part);
    const about = smoke
      ? ''
      : `, about ${Math.ceil(left / 60)} min left, then ${rest.join(', ') || 'the report'}`;
    say(`\n[${index + 1}/${steps.length}${about}] bench/${script}`);
    const json = join(folder, `${part}.json`);
    const flags = [...args.filter((flag) => large || flag !== '--large'), '--json', json];
    const isDone = await runScript(script, smoke ? [...flags, '--smoke'] : flags, ending.signal);
    if (ending.signal.aborted) break;
    if (isDone) parts[part] = JSON.parse(readFileSync(json, 'utf8'));
  }
  clearTimeout(timer);
  const report: Report = { ...describeRun(command.name()), parts: parts as Parts };
  const missing = steps.filter(({ part }) => !(part in parts)).map(({ part }) => part);
  if (missing.length > 0) {
    say(`\n${ending.signal.reason ?? 'failed'}: without ${missing.join(', ')}`);
    process.exitCode = 1;
  }
  const isWhole = only === undefined && missing.length === 0;
  if (!smoke && missing.length < steps.length) writeReport(options.out, report, isWhole);
  if (smoke && missing.length === 0) checkSmoke(report);
}

/** Runs a script to its end, or until the signal comes; tells whether all went well. */
async function runScript(
  script: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${script}.js`), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const code = await dieTogether(child);
  signal.removeEventListener('abort', end);
  return code === 0;
}

/** A report of some parts has the time in its name: it replaces no whole one. */
function writeReport(folder: string, report: Report, isWhole: boolean): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, report.date.slice(0, isWhole ? 10 : 16).replace(':', ''));
  const goals = goalsTable(report.parts);
  writeFileSync(`${path}.json`, `${JSON.stringify(report)}\n`);
  const text = reportText(report, [goals, ...reportTables(report)]);
  writeFileSync(`${path}.md`, `# Waypost, measured\n\n${text}\n`);
  const rows = goals.rows.map(([what, ...rest]) => [
    what!.length > TITLE_WIDTH ? `${what!.slice(0, TITLE_WIDTH - 1)}…` : what!,
    ...rest,
  ]);
  console.log(terminalTable({ ...goals, rows }));
  say(`\nwritten: ${path}.json and .md`);
}

/** Throws unless the report can be made and no request failed during reloads. */
function checkSmoke(report: Report): void {
  const text = reportText(report, [goalsTable(report.parts), ...reportTables(report)]);
  if (/NaN|undefined/.test(text)) throw new Error('A figure of the report is not a number.');
  const failed = report.parts.reload?.results.failed ?? 0;
  if (failed > 0) throw new Error(`${failed} requests failed during reloads.`);
  say('\nsmoke: all answers are right');
}

await runMain(import.meta, main);
