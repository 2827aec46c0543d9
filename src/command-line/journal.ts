import type { Command } from 'commander';
import { demand, endWithReader, interruption, whole } from './arguments.js';

const ANY = whole(0, Number.MAX_SAFE_INTEGER);
const POSITIVE = whole(1, Number.MAX_SAFE_INTEGER);
const FILE = 'journal of accepted points';

/** Adds `journal` and its parts, and `compact`. */
export function addJournalCommands(program: Command): void {
  const journal = program
    .command('journal')
    .description('look into a journal of accepted points, export, retire and repair')
    .helpCommand(false);

  journal
    .command('list')
    .description('tell which points wait for a snapshot that has them')
    .argument('<file>', FILE)
    .action(async (file: string) => {
      const { listJournal } = await import('../commands/journal.js');
      await endWithReader();
      for await (const line of listJournal(file)) console.log(line);
    });

  journal
    .command('verify')
    .description('check every line, and tell what is in it; a running service may go on writing')
    .argument('<file>', FILE)
    .addHelpText('after', '\nExits with 0 for a good journal and 1 for a damaged one.')
    .action(async (file: string) => {
      const { verifyJournal } = await import('../commands/journal.js');
      await endWithReader();
      process.exitCode = await verifyJournal(file, (line) => console.log(line));
    });

  journal
    .command('export')
    .description('write the points that wait as NDJSON, with their sequence numbers')
    .argument('<file>', FILE)
    .argument('[output]', 'file to write, whole or not at all; - for standard output', '-')
    .option('--after <number>', 'leave out sequences up to this one', ANY, 0)
    .action(async (file: string, output: string, options: { after: number }) => {
      const { exportJournal } = await import('../commands/journal.js');
      await endWithReader();
      const print = (line: string): void => console.error(line);
      await exportJournal(file, output, { ...options, stdout: process.stdout, print });
    });

  const retire = journal
    .command('retire')
    .description('forget points that the upstream has taken in; the service must not be running')
    .argument('<file>', FILE)
    .option('--through <number>', 'all sequences up to this one', POSITIVE)
    .action(async (file: string, options: { through: number }) => {
      demand(retire, ['--through <number>']);
      const { retireJournal } = await import('../commands/journal.js');
      console.log(await retireJournal(file, options.through));
    });

  journal
    .command('repair')
    .description('write a damaged journal anew, and set its damaged lines aside')
    .argument('<file>', FILE)
    .option('--next-sequence <number>', 'least sequence of new points', POSITIVE)
    .option('--next-id <number>', 'least id of new points', POSITIVE)
    .action(async (file: string, options: { nextSequence?: number; nextId?: number }) => {
      const { repair } = await import('../commands/journal.js');
      for (const line of await repair(file, options)) console.log(line);
    });

  program
    .command('compact')
    .description('write a snapshot and the points that wait in a journal as one native snapshot')
    .argument('<snapshot>', 'snapshot of any format')
    .argument('<journal>', `${FILE}, which stays as it is`)
    .argument('<output>', 'native snapshot to write, whole or not at all; - for standard output')
    .action(async (snapshot: string, file: string, output: string) => {
      const { compactSnapshot } = await import('../commands/compact.js');
      await endWithReader();
      await compactSnapshot(snapshot, file, output, { signal: interruption() });
    });
}
