import { type Command, InvalidArgumentError, Option } from 'commander';
import { InputError } from '../model/quote.js';
import { wholeNumber } from './settings/values.js';
import type { RunOptions } from './standard-streams.js';

export function whole(least: number, most: number): (text: string) => number {
  return argument((text) => wholeNumber(text, least, most));
}

/** The flag of commands that read a snapshot; `serve` has its own, of the same meaning. */
export function timeZone(): Option {
  const help = 'where times stand that name no offset, such as Europe/Helsinki';
  return new Option('--time-zone <name>', help).default('UTC');
}

/** Makes a parser's complaint one about the flag. */
export function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      const { message } = error as Error;
      throw new InvalidArgumentError(`${message[0]?.toUpperCase()}${message.slice(1)}.`);
    }
  };
}

/** Lets a command end quietly, with 141, when whoever reads its output leaves. */
export async function endWithReader(): Promise<void> {
  const streams = await import('./standard-streams.js');
  streams.endWithReader();
}

/** Fires when the user interrupts, so that no half-written file stays behind. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new InputError(`Stopped by ${signal}.`)));
  }
  return controller.signal;
}

/**
 * Ends with an error when a flag is missing. Commander's own check would come before that of
 * unknown flags and blame the right one for a misspelt one.
 */
export function demand(command: Command, flags: readonly string[]): void {
  for (const flag of flags) {
    if (command.getOptionValue(new Option(flag).attributeName()) !== undefined) continue;
    command.error(`error: required option '${flag}' not specified`);
  }
}

const ANY = whole(0, Number.MAX_SAFE_INTEGER);

const FILE =
  'journal that no service has open, a copy of one, the address of a service (http://…; ' +
  'its admin token in WAYPOST_ADMIN_TOKEN) or of a database (postgres://…)';

/** Milliseconds of an age. */
function age(text: string): number {
  const [, digits, unit] = /^(\d{1,5})(h|d)$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('expected an age such as 12h or 7d');
  return Number(digits) * (unit === 'd' ? 24 : 1) * 3_600_000;
}

export function addJournalCommands(program: Command): void {
  const journal = program
    .command('journal')
    .description('look into a journal of accepted points')
    .helpCommand(false);

  journal
    .command('list')
    .description('tell which posts it has')
    .argument('<file>', FILE)
    .action(async (file: string) => {
      const { listJournal } = await import('./journal-posts.js');
      await endWithReader();
      for await (const line of listJournal(file)) console.log(line);
    });

  journal
    .command('export')
    .description('write the posts as NDJSON: their records, with sequence, key and user')
    .argument('<file>', FILE)
    .argument('[output]', 'file to write, whole or not at all; - for standard output', '-')
    .option('--after <number>', 'leave out sequences up to this one', ANY, 0)
    .action(async (file: string, output: string, options: { after: number }) => {
      const { exportJournal } = await import('./journal-posts.js');
      await endWithReader();
      const print = (line: string): void => console.error(line);
      await exportJournal(file, output, { ...options, stdout: process.stdout, print });
    });

  journal
    .command('prune')
    .description('remove posts of a database that are a day old and that all snapshots have')
    .argument('<address>', 'address of the database, postgres://…')
    .option('--through <number>', 'keep sequences behind this one', ANY)
    .option('--older-than <time>', 'keep younger ones, such as 12h or 7d', age)
    .action(async (address: string, options: { through?: number; olderThan?: number }) => {
      if (Object.keys(options).length === 0) {
        throw new InputError('journal prune: expected --through, --older-than or both');
      }
      const { pruneJournal } = await import('./journal-posts.js');
      console.log(await pruneJournal(address, options));
    });

  program
    .command('compact')
    .description('write a snapshot and the posts of a journal as one native snapshot')
    .argument('<snapshot>', 'snapshot of any format')
    .argument('<journal>', FILE)
    .argument('<output>', 'native snapshot to write, whole or not at all; - for standard output')
    .addOption(timeZone())
    .action(async (snapshot: string, file: string, output: string, options: RunOptions) => {
      const { compactSnapshot } = await import('./pack.js');
      await endWithReader();
      await compactSnapshot(snapshot, file, output, { ...options, signal: interruption() });
    });
}
