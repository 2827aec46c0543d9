import { type Command, InvalidArgumentError } from 'commander';
import { InputError } from '../model/quote.js';
import { endWithReader, interruption, timeZone, whole } from './arguments.js';

const ANY = whole(0, Number.MAX_SAFE_INTEGER);
export interface TimeZoneFlag {
  readonly timeZone: string;
}

const FILE =
  'journal that no service has open, a copy of one, the address of a service (http://…; its admin token in WAYPOST_ADMIN_TOKEN) or of a database (postgres://…)';

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
    .action(async (snapshot: string, file: string, output: string, options: TimeZoneFlag) => {
      const { compactSnapshot } = await import('./compact.js');
      await endWithReader();
      await compactSnapshot(snapshot, file, output, { ...options, signal: interruption() });
    });
}
