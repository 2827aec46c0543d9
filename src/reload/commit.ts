import type { Logger } from 'pino';
import { doubtOf, type Leniency } from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import type { Generation } from './generation.js';

/** What is not served although it could be read. */
export interface Rules extends Leniency {
  /** A snapshot that lost more than this share of the points is held back: 0.5 for half of them. */
  readonly maxShrink: number;
}

/** Serves a generation from now on; resolves when all threads do. Rejects where it cannot yet. */
export type Serve = (generation: Generation) => Promise<void>;

/** A snapshot is held back that is as it should be, but too small beside the one before. */
export class HeldBack extends InputError {}

/**
 * Serves a generation from now on, or returns why not. `before` is how many points it is compared
 * with, 0 when it may have lost any number of them.
 */
export async function commit(
  generation: Generation,
  path: string,
  {
    serve,
    before,
    rules,
    logger,
  }: {
    readonly serve: Serve;
    readonly before: number;
    readonly rules: Rules;
    readonly logger: Logger;
  },
): Promise<Error | undefined> {
  const { report } = generation.parts.dataset;
  const doubt = doubtOf(report, rules);
  if (doubt !== undefined) return new InputError(`${path}: ${doubt}`);
  const { count } = generation;
  if (count < before * (1 - rules.maxShrink)) {
    return new HeldBack(
      `${path}: it has ${count} points where ${before} are served, a loss of more than ${rules.maxShrink * 100} %; a reload that accepts it takes it all the same`,
    );
  }
  const { invalid, problems, unknownKeys, page } = report;
  if (invalid > 0) logger.warn({ invalid, problems }, 'invalid records left out');
  if (Object.keys(unknownKeys).length > 0) logger.warn({ unknownKeys }, 'unknown keys dropped');
  if (page !== undefined) logger.warn({ path, page }, 'page of a longer list accepted');
  try {
    await serve(generation);
  } catch (error) {
    // without its cause: what the system said of the journal is no verdict on the snapshot
    return new Error((error as Error).message);
  }
  return undefined;
}
