import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { describeMachine, type Machine } from './machine.js';

/**
 * What a script of the suite writes with --json: its part of a report, and where it was measured.
 */
export interface Part<T> {
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly machine: Machine;
  readonly command: string;
  readonly results: T;
}

/** Progress goes to standard error, so that standard output is the table alone. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

type SharedOption = 'points' | 'seconds' | 'rounds' | 'connections' | 'seed';

/**
 * Options that mean the same in every script that has them: what they are for, and how they are
 * read.
 */
const SHARED: Readonly<
  Record<SharedOption, readonly [help: string, parse: (text: string) => number]>
> = {
  points: ['how many points', positive],
  seconds: ['length of a round', positiveNumber],
  rounds: ['rounds, in each of which all sides take their turn', positive],
  connections: ['connections at once', positive],
  seed: ['the same seed gives the same points and the same requests', positive],
};

/** What every script of the suite can be given. */
export interface BenchOptions {
  readonly smoke: boolean;
  readonly json?: string;
}

/** Which of the {@link SHARED} options a script has, and the default of each. */
export type Defaults = Partial<Record<SharedOption, number>>;

/**
 * The command line of one script: `--smoke`, `--json`, and the shared options that have a default
 * here.
 */
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

/** A command line that has no options yet. */
export function plainCommand(name: string, description: string): Command {
  return new Command(`bench/${name}`)
    .description(description)
    .showHelpAfterError('Add --help for what there is.');
}

export const SMOKE_HELP = 'a few thousand points and short rounds: checks answers, not speed';
export const LARGE_HELP = '10,000,000 points as well: needs 8 GB of memory';

/**
 * Flags of the services of a smoke run: it checks answers, and a machine that is busy with other
 * work must not turn requests away.
 */
export function smokeFlags(smoke: boolean): readonly string[] {
  return smoke ? ['--max-loop-delay', '0'] : [];
}

/** Whether a module is the script that was started. */
function isMain(meta: ImportMeta): boolean {
  return process.argv[1] === meta.filename;
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

/** Writes a part where --json says; nowhere without. */
export function writePart<T>(path: string | undefined, command: string, results: T): void {
  if (path === undefined) return;
  const part: Part<T> = {
    date: new Date().toISOString(),
    machine: describeMachine(),
    command,
    results,
  };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(part, null, 1)}\n`);
}

/**
 * The command as the user typed it, but for where results go: paths of a machine are nobody's
 * business.
 */
export function typedCommand(name: string): string {
  const typed = process.argv.slice(2).filter((arg, i, all) => !isPath(arg) && !isPath(all[i - 1]));
  return [`bench/${name}`, ...typed].join(' ');
}

function isPath(flag: string | undefined): boolean {
  return flag === '--json' || flag === '--out';
}

/** Runs a script's main function and turns what it throws into a line and an exit code. */
export async function runMain(meta: ImportMeta, main: () => Promise<void>): Promise<void> {
  if (!isMain(meta)) return;
  try {
    await main();
  } catch (error) {
    say(`bench: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    process.exitCode = 1;
  }
}
