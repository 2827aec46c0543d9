import { ratiosOf, type Spread, spreadOf } from '../support/stats.js';
import { digits, type Table } from '../support/table.js';
import { POSTS_A_SECOND, READS_A_SECOND, type ReadRound } from './reads.js';

/** What is posted. */
export const POST_BODY: string = JSON.stringify({
  ...{ lat: '60.17', lon: '24.94' },
  ...{ comment: 'The bench is broken.', tags: ['Repair'] },
});

/** What a round measured. */
export interface PostRound extends ReadRound {
  /** Calls of `fdatasync` a second, each after a write as long as a line of the journal. */
  readonly syncs: number;
  /** Posts a second that a bare Fastify route in a process a core sends back. */
  readonly echoes: number;
  /** Posts that were acknowledged a second. */
  readonly posts: number;
}

/** What bench/post writes. */
export interface PostResults {
  readonly points: number;
  readonly connections: number;
  readonly rounds: readonly PostRound[];
}

/** A line for each figure and each ratio: least, mean, most and deviation of the rounds. */
export function postTables({ points, connections, rounds }: PostResults): Table[] {
  const row = (name: string, key: keyof PostRound): string[] => {
    return [name, ...figures(spreadOf(valuesOf(rounds, key)))];
  };
  const ratio = (name: string, ours: keyof PostRound, theirs: keyof PostRound): string[] => {
    return [name, ...figures(postRatio(rounds, ours, theirs))];
  };
  const rows = [
    row('bare fdatasync calls a second', 'syncs'),
    row(`posts a second that bare Fastify sends back, ${connections} clients`, 'echoes'),
    row('points acknowledged a second, as many clients', 'posts'),
    ratio('  beside bare fdatasync calls', 'posts', 'syncs'),
    ratio('  beside bare Fastify', 'posts', 'echoes'),
    row(`p99 of ${digits(READS_A_SECOND)} reads a second, ms`, 'quietMs'),
    row(`the same beside ${POSTS_A_SECOND} posts a second, ms`, 'besideMs'),
    row('  merges meanwhile', 'merges'),
    ratio('  beside posts to without', 'besideMs', 'quietMs'),
  ];
  const note =
    `${digits(points)} points, ${rounds.length} rounds. The clients send what is made once and take their ` +
    'share of the same cores. Bare Fastify has a process a core, and stores nothing.';
  const head = ['what', 'least', 'mean', 'most', 'deviation'];
  return [{ title: 'Accepting points', note, head, rows }];
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
