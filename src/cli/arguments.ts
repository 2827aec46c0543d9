import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Output } from '../formats/native/write-blocks.js';
import type { ReadOptions } from '../formats/snapshot.js';
import {
  OWNER_ONLY,
  removeLeftovers,
  temporaryIn,
  unreadable,
  unwritable,
  writeAll,
  writeAtomically,
} from '../formats/system-files.js';
import { forTerminal, InputError, sentence } from '../model/quote.js';
import type { ProgressOptions } from '../serving/progress.js';
import { wholeNumber } from './settings/values.js';

export function wholeArgument(least: number, most: number): (text: string) => number {
  return argument(wholeNumber(least, most));
}

/** The flag of commands that read a snapshot; `serve` has one of the same meaning. */
export function timeZone(): Option {
  const help = 'where times stand that name no offset, such as Europe/Helsinki';
  return new Option('--time-zone <name>', help).default('UTC');
}

export function maxInvalid(): Option {
  const help = 'invalid records to leave out before the file is refused';
  return new Option('--max-invalid <number>', help)
    .argParser(wholeArgument(0, Number.MAX_SAFE_INTEGER))
    .default(0);
}

export function age(text: string): number {
  const [, digits, unit] = /^(\d{1,5})(h|d)$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('expected an age such as 12h or 7d');
  return Number(digits) * (unit === 'd' ? 24 : 1) * 3_600_000;
}

/** Turns a parser's errors into errors about the flag. */
export function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(sentence((error as Error).message));
    }
  };
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
 * Ends with an error when a flag is missing. Commander's own check comes before that of unknown
 * flags, and so would not name a misspelt one.
 */
export function demand(command: Command, flags: readonly string[]): void {
  for (const flag of flags) {
    if (command.getOptionValue(new Option(flag).attributeName()) !== undefined) continue;
    command.error(`error: required option '${flag}' not specified`);
  }
}

/** Stands for standard input or standard output where a file is named. */
export const STANDARD = '-';

export interface RunOptions extends Pick<ReadOptions, 'maxInvalid' | 'timeZone'>, ProgressOptions {
  /** What `-` stands for as input and as output; standard input and output where absent. */
  readonly stdin?: Readable;
  readonly stdout?: Writable & { readonly isTTY?: boolean };
  /** Takes each line for people; standard output by default, or error where that is the output. */
  readonly print?: (line: string) => void;
}

export function tell(lines: readonly string[], output: string, { print }: RunOptions): void {
  const channel = output === STANDARD ? process.stderr : process.stdout;
  const say = print ?? ((line: string) => channel.write(`${line}\n`));
  for (const line of lines) say(forTerminal(line));
}

export function nameOf(output: string): string {
  return output === STANDARD ? 'standard output' : output;
}

/** The exit code of a program whose reader has left: 128 and the number of SIGPIPE. */
const READER_LEFT = 141;

/**
 * Ends the process with 141, in silence, once nobody reads its output, and with `trouble` when the
 * output cannot be written, such as to a full disk.
 */
export function endWithReader(trouble = 1): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') process.exit(READER_LEFT);
      console.error(`waypost: the output cannot be written: ${message}`);
      process.exit(trouble);
    });
  }
}

/**
 * Gives `run` the path of an input, and its name for people. Standard input is copied to a
 * temporary file beside `output`, or where temporary files are, and removed afterwards.
 */
export async function withInput<T>(
  input: string,
  output: string,
  { stdin, signal }: RunOptions,
  run: (path: string, name: string) => Promise<T>,
): Promise<T> {
  if (input !== STANDARD) return run(input, input);
  const folder = output === STANDARD ? tmpdir() : dirname(output);
  removeLeftovers(folder);
  const path = temporaryIn(folder);
  const remove = (): void => rmSync(path, { force: true });
  process.once('exit', remove);
  try {
    await pipeline(
      // not mentioned earlier: it would keep the process alive
      stdin ?? process.stdin,
      // snapshots may not be for every user of the machine
      createWriteStream(path, { flags: 'wx', mode: OWNER_ONLY }),
      signal === undefined ? {} : { signal },
    );
    return await run(path, 'standard input');
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof InputError))
      throw unwritable('the copy of standard input', folder, error);
    throw new InputError(error.message.replaceAll(path, 'standard input'), { cause: error });
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Lets `write` make an output: a file, whole or not at all, or what `-` stands for. */
export async function writeOutput<T>(
  output: string,
  options: Pick<RunOptions, 'stdout' | 'signal'>,
  write: (output: Output) => Promise<T>,
): Promise<T> {
  if (output !== STANDARD) {
    const writeTo = (fd: number): Promise<T> =>
      write({ fd, put: async (bytes) => writeAll(fd, bytes) });
    return writeAtomically(output, writeTo, options.signal);
  }
  return write({ put: (bytes) => send(bytes, options) });
}

/** Writes to standard output, and waits for its reader; throws the reason of `signal`. */
export async function send(
  bytes: Uint8Array | string,
  { stdout = process.stdout, signal }: Pick<RunOptions, 'stdout' | 'signal'>,
): Promise<void> {
  if (stdout.write(bytes)) return;
  // a reader may be stuck when the command is to end
  await once(stdout, 'drain', { signal }).catch((error) => {
    signal?.throwIfAborted();
    throw error;
  });
}

/** The text of an error that ends a command; for one of the system it names the file. */
export function messageOf(error: unknown): string {
  const { message, syscall, path } = error as NodeJS.ErrnoException;
  if (error instanceof InputError) return message;
  if (syscall !== undefined && path !== undefined) return unreadable(path, error).message;
  return `unexpected error: ${error instanceof Error ? message : error}`;
}
