#!/usr/bin/env node
import { Command, Option } from 'commander';
import {
  age,
  argument,
  demand,
  endWithReader,
  interruption,
  maxInvalid,
  messageOf,
  type RunOptions,
  timeZone,
  wholeArgument,
} from './cli/arguments.js';
import type { DiffOptions } from './cli/diff.js';
import type { ExportOptions } from './cli/export.js';
import { MAX_POINTS, MAX_SEED } from './cli/generate/random.js';
import type { PackOptions } from './cli/pack.js';
import {
  readEnvironment,
  SERVE_SETTINGS,
  type Setting,
  strangeVariables,
} from './cli/settings/settings.js';
import { postsUpTo, type ServeSettings, watermark } from './cli/settings/values.js';
import type { VerifyOptions } from './cli/verify.js';
import { forTerminal, InputError, version } from './model/quote.js';

const FORMATS =
  'Input may be native, NDJSON, a JSON array or envelope, GeoJSON, CSV with a header, MessagePack rows or\n' +
  'Parquet, told apart by content; all but native and Parquet may be gzipped.';

const STREAMS =
  'Standard input is copied to a temporary file beside the output first. What goes to standard output is not\n' +
  'whole or not at all: look at the exit code, which is 0 when all of it was written.';

const FILE =
  'journal that no service has open, a copy of one, the address of a service (http://…; ' +
  'its admin token in WAYPOST_ADMIN_TOKEN) or of a database (postgres://…)';

const ANY = wholeArgument(0, Number.MAX_SAFE_INTEGER);

/** The exit code of diff where it cannot compare. */
const TROUBLE = 2;

const strange = strangeVariables(process.env);

const program = new Command('waypost')
  .description('Serves geolocated notes from a snapshot file over a REST interface.')
  .version(version(), '--version', 'tell the version')
  .helpCommand(false)
  .showHelpAfterError('Add --help for what there is.');

const requiredFlags = SERVE_SETTINGS.filter((one) => one.required).map((one) => one.flag);
const serveCommand = program
  .command('serve')
  .description('load a snapshot and serve it')
  .addHelpText('after', '\nA flag wins over its environment variable.')
  .action(async (settings: ServeSettings) => {
    demand(serveCommand, requiredFlags);
    // each command loads what it needs when it is called: help need not wait for a web server
    const { serve } = await import('./cli/serve.js');
    await serve(settings, strange);
  });
for (const setting of SERVE_SETTINGS) serveCommand.addOption(optionOf(setting));
program.hook('preAction', (_program, command) => {
  const empty = command.registeredArguments[command.args.indexOf('')];
  if (empty !== undefined) command.error(`error: argument ${empty.name()} is empty`);
  if (command !== serveCommand) endWithReader(command.name() === 'diff' ? TROUBLE : undefined);
});

program
  .command('pack')
  .description('write any snapshot as a native one, which loads fastest')
  .argument('<input>', 'snapshot to read, - for standard input')
  .argument('<output>', 'native snapshot to write, whole or not at all; - for standard output')
  .addOption(maxInvalid())
  .addOption(timeZone())
  .option('--notifications <file>', 'notifications to put in, NDJSON or JSON')
  .option(
    '--journal-through <journal:sequence>',
    'all posts of the journal of this name up to this sequence are in the input: a service ' +
      'forgets them',
    argument(watermark),
  )
  .option('--allow-empty', 'write a snapshot without points')
  .addHelpText('after', `\n${FORMATS}\n${STREAMS}`)
  .action(async (input: string, output: string, options: PackOptions) => {
    const { packSnapshot } = await import('./cli/pack.js');
    await packSnapshot(input, output, { ...options, signal: interruption() });
  });

program
  .command('verify')
  .description('read all of a snapshot, check every rule, and tell what is in it')
  .argument('<file>', 'snapshot to check; - for standard input')
  .addOption(maxInvalid())
  .addOption(timeZone())
  .option('--allow-empty', 'a snapshot without points is good, too')
  .addHelpText('after', `\n${FORMATS}\nExits with 0 for a good file and 1 for a bad one.`)
  .action(async (file: string, options: VerifyOptions) => {
    const { verify } = await import('./cli/verify.js');
    process.exitCode = await verify(file, { ...options, signal: interruption() });
  });

program
  .command('export')
  .description('write points of a snapshot as NDJSON, GeoJSON, CSV, MessagePack or Parquet')
  .argument('<snapshot>', 'snapshot of any format, - for standard input')
  .argument(
    '<output>',
    'file whose ending names its format, whole or not at all; - for standard output',
  )
  .option(
    '--filter <query>',
    "which points, as in an address: 'bbox=…&status=NEW&ordering=created_at'",
  )
  .option(
    '--format <name>',
    'ndjson, geojson, geojsonl, csv, msgpack or parquet, whatever the ending',
  )
  .option(
    '--journal <file>',
    'journal whose posts belong to the snapshot, or the address of a service',
  )
  .addOption(maxInvalid())
  .addOption(timeZone())
  .addHelpText('after', `\n${FORMATS}\n${STREAMS}`)
  .action(async (input: string, output: string, options: ExportOptions) => {
    const { exportSnapshot } = await import('./cli/export.js');
    await exportSnapshot(input, output, { ...options, signal: interruption() });
  });

program
  .command('diff')
  .description('tell what came, went and changed between two snapshots of any format')
  .argument('<first>', 'snapshot before')
  .argument('<second>', 'snapshot after')
  .addOption(
    new Option('--format <format>', 'counts and a few ids, or a line for each difference')
      .choices(['summary', 'ndjson'])
      .default('summary'),
  )
  .addOption(maxInvalid())
  .addOption(timeZone())
  .addHelpText(
    'after',
    `\n${FORMATS}\nExits as diff(1) does: with 0 where the points are the same, 1 where ` +
      'they differ, 2 on trouble.',
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode && TROUBLE))
  .action(async (first: string, second: string, options: DiffOptions) => {
    const { diff } = await import('./cli/diff.js');
    process.exitCode = TROUBLE;
    process.exitCode = await diff(first, second, { ...options, signal: interruption() });
  });

const generateCommand = program
  .command('generate')
  .description('write a snapshot of invented points, for trials and benches')
  .option('--points <number>', `how many, 1 to ${MAX_POINTS}`, wholeArgument(1, MAX_POINTS))
  .option('--seed <number>', 'the same seed gives the same file', wholeArgument(0, MAX_SEED), 1)
  .option('--out <file>', '.waypost for native, .ndjson for NDJSON')
  .action(async (options: { points: number; seed: number; out: string }) => {
    demand(generateCommand, ['--points <number>', '--out <file>']);
    const { generateSnapshot } = await import('./cli/generate.js');
    await generateSnapshot({ ...options, signal: interruption() });
  });

const tokenCommand = program
  .command('token')
  .description('make, list and revoke the tokens of a file for serve --tokens')
  .helpCommand(false);

const addCommand = tokenCommand
  .command('add')
  .description('make a token and print it, this once')
  .argument('<file>', 'file of tokens, made where there is none')
  .option('--user <id>', 'user that the token stands for', ANY)
  .option('--name <text>', 'what people call the token', '')
  .option('--admin', 'the token opens the addresses below /admin/')
  .action(async (file: string, options: { user: number; name: string; admin?: boolean }) => {
    demand(addCommand, ['--user <id>']);
    const { user, name, admin: isAdmin = false } = options;
    const { addToken } = await import('./cli/tokens.js');
    console.log(await addToken(file, { user, name, isAdmin }));
  });

tokenCommand
  .command('list')
  .description('tell which tokens there are: id, user, admin, created, name')
  .argument('<file>', 'file of tokens')
  .action(async (file: string) => {
    const { listTokens } = await import('./cli/tokens.js');
    for (const line of listTokens(file)) console.log(forTerminal(line));
  });

tokenCommand
  .command('revoke')
  .description('take tokens out; a running service notices within two seconds')
  .argument('<file>', 'file of tokens')
  .argument('<id-or-name>', 'id of one token, or name of all that are called so')
  .action(async (file: string, idOrName: string) => {
    const { revokeToken } = await import('./cli/tokens.js');
    for (const id of await revokeToken(file, idOrName)) console.log(`revoked ${id}`);
  });

const journal = program
  .command('journal')
  .description('look into a journal of accepted points')
  .helpCommand(false);

journal
  .command('list')
  .description('tell which posts it has')
  .argument('<file>', FILE)
  .action(async (file: string) => {
    const { listJournal } = await import('./cli/journal-posts.js');
    for await (const line of listJournal(file)) console.log(line);
  });

journal
  .command('export')
  .description('write the posts as NDJSON: their records, with sequence, key and user')
  .argument('<file>', FILE)
  .argument('[output]', 'file to write, whole or not at all; - for standard output', '-')
  .option(
    '--after <sequence>',
    'leave out sequences up to this one; better with the journal in front, as an export prints both: ' +
      'then another journal is refused',
    argument(postsUpTo),
  )
  .action(
    async (file: string, output: string, options: { after?: ReturnType<typeof watermark> }) => {
      const { exportJournal } = await import('./cli/journal-posts.js');
      const print = (line: string): void => console.error(line);
      await exportJournal(file, output, { ...options, print });
    },
  );

journal
  .command('prune')
  .description('remove posts of a database that are a day old and that all snapshots have')
  .argument('<address>', 'address of the database, postgres://…')
  .option('--through <number>', 'keep sequences behind this one; or give --older-than', ANY)
  .option('--older-than <time>', 'keep younger ones, such as 12h or 7d', age)
  .action(async (address: string, options: { through?: number; olderThan?: number }) => {
    if (Object.keys(options).length === 0) {
      throw new InputError('journal prune: expected --through, --older-than or both');
    }
    const { pruneJournal } = await import('./cli/journal-posts.js');
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
    const { packSnapshot } = await import('./cli/pack.js');
    const given = { ...options, journal: file, signal: interruption() };
    await packSnapshot(snapshot, output, given);
  });

try {
  // commander reads the variables from here
  process.env = readEnvironment(process.env);
  await program.parseAsync();
} catch (error) {
  console.error(`waypost: ${forTerminal(messageOf(error))}`);
  process.exitCode ||= 1;
}

function optionOf({ flag, environment, help, fallback, parse }: Setting): Option {
  const option = new Option(flag, help).env(environment);
  if (parse !== undefined) option.argParser(argument(parse));
  if (fallback === undefined) return option;
  return option.default(parse === undefined ? fallback : parse(fallback), fallback);
}
