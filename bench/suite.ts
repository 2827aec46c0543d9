import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goalsOf } from './report/goals.js';
import { toHtml } from './report/html.js';
import { toMarkdown } from './report/markdown.js';
import { goalsTable } from './report/tables.js';
import type { Parts, Report } from './report/types.js';
import { describeMachine } from './support/machine.js';
import {
  LARGE_HELP,
  names,
  plainCommand,
  runMain,
  SMOKE_HELP,
  say,
  typedCommand,
} from './support/run.js';
import { dieTogether } from './support/service.js';
import { textTable } from './support/table.js';

interface Options {
  readonly smoke: boolean;
  readonly large: boolean;
  readonly only?: readonly string[];
  readonly out: string;
}

/** A script of the suite, and the arguments of its part. */
interface Step {
  readonly part: keyof Parts;
  readonly script: string;
  readonly args: readonly string[];
}

const RESULTS = join(import.meta.dirname, '../../bench/results');
/**
 * Requests a second of the open loop: what a busy map gets, and a fraction of what one core can do.
 */
const OPEN_RATE = '1000';
const TITLE_WIDTH = 90;

const command = plainCommand(
  'suite',
  'Runs every bench and writes a report: JSON, Markdown and one HTML page.',
)
  .option('--smoke', SMOKE_HELP, false)
  .option('--large', `${LARGE_HELP}, and 15 minutes`, false)
  .option(
    '--only <parts>',
    'with commas: query, load, reload, post, peers, http, open, tiles, scale',
    names,
  )
  .option('--out <folder>', 'where reports go', RESULTS);

/** Entry: each part in a process of its own, one after the other, then the report. */
async function main(): Promise<void> {
  const options = command.parse().opts<Options>();
  const steps = stepsOf(options);
  const folder = mkdtempSync(join(tmpdir(), 'waypost-suite-'));
  const started = performance.now();
  try {
    const parts: Record<string, unknown> = {};
    for (const [index, { part, script, args }] of steps.entries()) {
      const seconds = Math.round((performance.now() - started) / 1000);
      say(`\n[${index + 1}/${steps.length}, ${seconds} s] ${script} ${args.join(' ')}`);
      const json = join(folder, `${part}.json`);
      await run(script, [...args, '--json', json]);
      parts[part] = JSON.parse(readFileSync(json, 'utf8'));
    }
    const report: Report = {
      version: 1,
      date: new Date().toISOString(),
      machine: describeMachine(),
      command: typedCommand('suite'),
      parts: parts as Parts,
    };
    if (options.smoke) return checkSmoke(report);
    writeReport(options.out, report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function stepsOf({ smoke, large, only }: Options): Step[] {
  const small = smoke ? ['--smoke'] : [];
  const ten = large ? ['--large'] : [];
  const open = smoke ? ['--rate', '200', '--scenarios', 'mix,hot'] : ['--rate', OPEN_RATE];
  const all: Step[] = [
    { part: 'query', script: 'query', args: [...small, ...ten] },
    { part: 'load', script: 'load', args: [...small, ...ten] },
    { part: 'peers', script: 'peers', args: small },
    { part: 'http', script: 'http', args: small },
    { part: 'open', script: 'http', args: [...small, ...open] },
    { part: 'reload', script: 'reload', args: small },
    { part: 'tiles', script: 'tiles', args: [...small, ...ten] },
    { part: 'post', script: 'post', args: small },
  ];
  if (large || smoke || only?.includes('scale')) {
    all.push({ part: 'scale', script: 'scale', args: small });
  }
  return all.filter(({ part }) => only === undefined || only.includes(part));
}

async function run(script: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${script}.js`), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const release = dieTogether(child);
  const [code] = (await once(child, 'close')) as [number | null];
  release();
  if (code !== 0) throw new Error(`bench/${script} ended with ${code}.`);
}

function writeReport(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, report.date.slice(0, 10));
  writeFileSync(`${path}.json`, `${JSON.stringify(report)}\n`);
  writeFileSync(`${path}.md`, toMarkdown(report));
  writeFileSync(`${path}.html`, toHtml(report));
  const { head, rows } = goalsTable(report.parts);
  const short = rows.map(([what, ...rest]) => [
    what!.length > TITLE_WIDTH ? `${what!.slice(0, TITLE_WIDTH - 1)}…` : what!,
    ...rest,
  ]);
  console.log(`\n${textTable(head, short)}`);
  say(`\nwritten: ${path}.json, .md and .html`);
}

/**
 * Everything but speed: the report can be made, and nothing failed while a snapshot was swapped.
 */
function checkSmoke(report: Report): void {
  if (toHtml(report).includes('NaN') || toMarkdown(report).includes('NaN')) {
    throw new Error('A figure of the report is not a number.');
  }
  const failed = goalsOf(report.parts).find(({ what }) => what.startsWith('requests failed'));
  if (failed?.verdict === 'missed') throw new Error(`${failed.measured} failed during reloads.`);
  say('\nsmoke: all answers are right');
}

await runMain(import.meta, main);
