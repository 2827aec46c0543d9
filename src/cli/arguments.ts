import { type Command, InvalidArgumentError, Option } from 'commander';
import { InputError } from '../model/quote.js';
import { wholeNumber } from './settings/values.js';

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
