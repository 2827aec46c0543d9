import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Command, InvalidArgumentError } from 'commander';
import { version } from '../../src/model/quote.js';
import { endRun } from './service.js';
import { type Table, terminalTable } from './table.js';

/** Where a run took place, as far as its figures depend on it. */
interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  readonly platform: string;
}

/** When, where and by what something was measured. */
export interface Run {
  /** ISO 8601, UTC. */
  readonly date: string;
  /** Of Waypost, with the commit where it is known. */
  readonly version: string;
  readonly machine: Machine;
  readonly command: string;
}

/** What a script of the suite writes with --json: its part of a report. */
export interface Part<T> extends Run {
  readonly results: T;
}

/** Progress goes to standard error, so that standard output is the table alone. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

type SharedOption = 'points' | 'seconds' | 'rounds' | 'connections' | 'seed';

/** Options that scripts share: their help and their parser. */
const SHARED: Readonly<
  Record<SharedOption, readonly [help: string, parse: (text: string) => number]>
> = {
  points: ['how many points', positive],
  seconds: ['length of a round', positiveNumber],
  rounds: ['rounds, in each of which all sides take their turn', positive],
  connections: ['connections at once', positive],
  seed: ['the same seed gives the same points and the same requests', positive],
};

/** Options of a script of the suite; a shared option is there where the script has a default. */
export interface BenchOptions extends Readonly<Record<SharedOption, number>> {
  readonly smoke: boolean;
  readonly json?: string;
}

/** Which of the {@link SHARED} options a script has, and the default of each. */
type Defaults = Partial<Record<SharedOption, number>>;

/** The command line of a script: `--smoke`, `--json`, and shared options with a default here. */
export function benchCommand(name: string, description: string, defaults: Defaults = {}): Command {
  const command = plainCommand(name, description)
    .option('--smoke', SMOKE_HELP, false)
    .option('--json <file>', 'write the results there, too');
  for (const [option, fallback] of Object.entries(defaults)) {
    const [help, parse] = SHARED[option as SharedOption];
    command.option(`--${option} <number>`, help, parse, fallback);
  }
  return command;
}

export function plainCommand(name: string, description: string): Command {
  return new Command(`bench/${name}`)
    .description(description)
    .showHelpAfterError('Add --help for what there is.');
}

export const SMOKE_HELP = 'a few thousand points and short rounds: checks answers, not speed';
export const LARGE_HELP = '10,000,000 points as well: needs 8 GB of memory';

/**
 * Flags of the services of a smoke run, which checks answers: a busy machine must not make them
 * shed requests.
 */
export function smokeFlags(smoke: boolean): readonly string[] {
  return smoke ? ['--max-loop-delay', '0'] : [];
}

/** A whole number of at least 1, for commander. */
export function positive(text: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1) throw new InvalidArgumentError('Expected a whole number from 1.');
  return value;
}

/** A number above 0, for commander. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0) || value === Infinity) throw new InvalidArgumentError('Expected a number > 0.');
  return value;
}

/** A list of names with commas between, for commander. */
export function names(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

/** A terminal that is closed sends the last one. */
export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a script if it is the one that was started: reads its command line, over which `smoke` goes
 * in a smoke run, prints the tables of the results, and writes them where --json says. Whatever is
 * thrown becomes a line and an exit code.
 */
export async function runBench<Options extends BenchOptions, Results>(
  meta: ImportMeta,
  command: Command,
  bench: {
    readonly smoke: Partial<Options>;
    readonly run: (options: Options) => Promise<Results>;
    readonly tables: (results: Results) => readonly Table[];
  },
): Promise<void> {
  await runMain(meta, async () => {
    // handlers of `exit` end children and remove temporary folders
    for (const signal of ENDING_SIGNALS) process.once(signal, () => process.exit(1));
    // the heap for young objects that V8 grows to takes a generator 4 ms a collection, 1 MB a tenth
    setFlagsFromString('--semi-space-growth-factor=1');
    const given = command.parse().opts<Options>();
    const options = given.smoke ? { ...given, ...bench.smoke } : given;
    const results = await bench.run(options).finally(endRun);
    for (const table of bench.tables(results)) console.log(terminalTable(table));
    if (options.json === undefined) return;
    mkdirSync(dirname(options.json), { recursive: true });
    writeFileSync(options.json, `${JSON.stringify({ ...describeRun(command.name()), results })}\n`);
  });
}

export function describeRun(name: string): Run {
  return {
    date: new Date().toISOString(),
    version: `${version()}${revision()}`,
    machine: describeMachine(),
    command: typedCommand(name),
  };
}

/** The machine's name and paths are left out: they are nobody's business. */
function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
}

/** The commit that is measured, where this is a clone. */
function revision(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return status === 0 ? ` (${stdout.trim()})` : '';
}

/** The command as the user typed it, without the paths of results. */
function typedCommand(name: string): string {
  const isPath = (flag: string | undefined): boolean => flag === '--json' || flag === '--out';
  const typed = process.argv.slice(2).filter((arg, i, all) => !isPath(arg) && !isPath(all[i - 1]));
  return [name, ...typed].join(' ');
}

/** Runs `main` if the module is the script that was started. */
export async function runMain(meta: ImportMeta, main: () => Promise<void>): Promise<void> {
  if (process.argv[1] !== meta.filename) return;
  try {
    await main();
  } catch (error) {
    say(`bench: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    process.exitCode = 1;
  }
}
