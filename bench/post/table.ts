import { ratiosOf, type Spread, spreadOf } from '../support/stats.js';
import { digits } from '../support/table.js';
import { POSTS_A_SECOND, READS_A_SECOND, type ReadRound } from './reads.js';

/** What a round measured. */
export interface PostRound extends ReadRound {
  /** Calls of `fdatasync` a second, each after a write as long as a line of the journal. */
  readonly syncs: number;
  /** Posts a second that a bare Fastify route in a process a core sends back. */
  readonly echoes: number;
  /** Posts that were acknowledged a second. */
  readonly posts: number;
  /** The first and the third where each flush takes {@link SLOW_FLUSH_MS} longer. */
  readonly slowSyncs: number;
  readonly slowPosts: number;
}

/** What bench/post writes. */
export interface PostResults {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly PostRound[];
}

/** What a flush takes on a disk behind a network, or on one without a cache of its own. */
export const SLOW_FLUSH_MS = 2;

/** The results as lines of text: what, least, mean, most and deviation of the rounds. */
export function postRows({ connections, rounds }: PostResults): string[][] {
  const row = (name: string, key: keyof PostRound): string[] => {
    return [name, ...figures(spreadOf(valuesOf(rounds, key)))];
  };
  const ratio = (name: string, ours: keyof PostRound, theirs: keyof PostRound): string[] => {
    return [name, ...figures(postRatio(rounds, ours, theirs))];
  };
  return [
    row('bare fdatasync calls a second', 'syncs'),
    row(`posts a second that bare Fastify sends back, ${connections} clients`, 'echoes'),
    row('points acknowledged a second, as many clients', 'posts'),
    ratio('  beside bare fdatasync calls', 'posts', 'syncs'),
    ratio('  beside bare Fastify', 'posts', 'echoes'),
    row(`bare calls a second that take ${SLOW_FLUSH_MS} ms longer`, 'slowSyncs'),
    row('points acknowledged a second with such flushes', 'slowPosts'),
    ratio('  beside these calls', 'slowPosts', 'slowSyncs'),
    row(`p99 of ${digits(READS_A_SECOND)} reads a second, ms`, 'quietMs'),
    row(`the same beside ${POSTS_A_SECOND} refused posts a second, ms`, 'refusedMs'),
    row(`the same beside ${POSTS_A_SECOND} accepted ones, ms`, 'besideMs'),
    row('  folds meanwhile', 'folds'),
    ratio('  beside refused posts to without', 'refusedMs', 'quietMs'),
    ratio('  beside accepted posts to without', 'besideMs', 'quietMs'),
  ];
}

function figures({ min, mean, max, deviation }: Spread): string[] {
  return [min, mean, max, deviation].map(digits);
}

/** One value of each round beside another one of the same round. */
export function postRatio(
  rounds: readonly PostRound[],
  ours: keyof PostRound,
  theirs: keyof PostRound,
): Spread {
  return ratiosOf(valuesOf(rounds, ours), valuesOf(rounds, theirs));
}

function valuesOf(rounds: readonly PostRound[], key: keyof PostRound): number[] {
  return rounds.map((round) => round[key]);
}
