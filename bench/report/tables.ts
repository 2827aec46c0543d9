import type { Round } from '../generators/types.js';
import { postRows } from '../post/table.js';
import type { Slow } from '../query/search.js';
import { ratiosOf, spreadOf } from '../support/stats.js';
import { digits, size } from '../support/table.js';
import { tileTable } from '../tiles/table.js';
import { goalsOf } from './goals.js';
import type { Parts, Report } from './types.js';

/** A table of a report, ready to be written as Markdown or HTML. */
export interface ReportTable {
  readonly title: string;
  /** What a reader must know to read it. */
  readonly note: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const VERDICTS = {
  aim: 'aim reached',
  least: 'reached',
  missed: 'missed',
  'not measured': 'not measured',
} as const;

/** Where and when a report was measured, in one line. */
export function describeReport({ date, machine, command }: Report): string {
  const { cpu, cores, memoryGiB, node, platform } = machine;
  return `${date.slice(0, 10)}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, ${platform}, \`${command}\``;
}

/** Every table of a report, in reading order; those of parts that were not run are left out. */
export function reportTables(report: Report): ReportTable[] {
  const { http, open, query, load, reload, post, peers, scale, tiles } = report.parts;
  const tables: (ReportTable | undefined)[] = [
    goalsTable(report.parts),
    peers && peersTable(peers.results),
    http && httpTable('Scenarios, closed loop', http.results),
    open && httpTable('Scenarios, open loop at a fixed rate', open.results),
    query && queryTable(query.results),
    query && slowestTable(query.results),
    query && longestHeldTable(query.results),
    load && loadTable(load.results),
    load && ratesTable(load.results),
    reload && reloadTable(reload.results),
    post && postTable(post.results),
    scale && scaleTable(scale.results),
    tiles && tileTable(tiles.results),
  ];
  return tables.filter((table) => table !== undefined);
}

/** The goals beside what was measured. */
export function goalsTable(parts: Parts): ReportTable {
  return {
    title: 'Goals',
    note: 'Ratios are the median of rounds in which both sides took turns, ± their standard deviation.',
    head: ['what', 'at least', 'aim', 'measured', 'verdict', 'script'],
    rows: goalsOf(parts).map(({ what, least, aim, measured, verdict, by }) => [
      what,
      least,
      aim,
      measured ?? '–',
      VERDICTS[verdict],
      by,
    ]),
  };
}

/** The peers beside Waypost. */
export function peersTable(results: NonNullable<Parts['peers']>['results']): ReportTable {
  const { points, generator, skipped } = results;
  const left = Object.entries(skipped).map(([peer, why]) => ` Left out: ${peer}: ${why}.`);
  return {
    title: 'Beside what else there is',
    note:
      `${digits(points)} points, ${generator}. Every peer answers the same requests over HTTP, by a Fastify route of ` +
      `its own. Waypost has a thread a core, and the others a process each where nothing else is said. CPU time is that of all its processes. Waypost to it: how many times as many requests a second, ` +
      `and, by CPU, how many times as many it answers with the same CPU time.${left.join('')}`,
    head: ['scenario', 'peer', 'requests/s', 'p99 ms', 'CPU µs', 'Waypost to it', 'by CPU'],
    rows: results.results.map(({ scenario, peer, rounds, ours }) => [
      scenario,
      peer,
      mean(rounds, (one) => one.perSecond),
      mean(rounds, (one) => one.latencies.percentiles['99']),
      mean(rounds, (one) => one.serverMicros),
      peer === 'Waypost' ? '1' : `${digits(ours.median)} ± ${digits(ours.deviation)}`,
      peer === 'Waypost' ? '1' : cpuRatio(results, scenario, rounds),
    ]),
  };
}

/**
 * How much more CPU time a peer needs for a request, round by round: steadier on a busy machine.
 */
function cpuRatio(
  { results }: NonNullable<Parts['peers']>['results'],
  scenario: string,
  theirs: readonly Round[],
): string {
  const ours = results.find((one) => one.scenario === scenario && one.peer === 'Waypost')?.rounds;
  const micros = (rounds: readonly Round[] = []): number[] =>
    rounds.map((one) => one.serverMicros).filter((value) => value !== undefined);
  const [mine, others] = [micros(ours), micros(theirs)];
  if (mine.length === 0 || others.length !== mine.length) return '–';
  const { median, deviation } = ratiosOf(others, mine);
  return `${digits(median)} ± ${digits(deviation)}`;
}

function httpTable(title: string, results: NonNullable<Parts['http']>['results']): ReportTable {
  const [first] = results;
  const rate = first?.rate === undefined ? '' : `, ${digits(first.rate)} requests/s asked for`;
  return {
    title,
    note: `${first?.generator}, ${first?.connections} connections${rate}.`,
    head: ['scenario', 'requests/s', '±', 'p50 ms', 'p99 ms', 'CPU µs', 'KB', 'errors'],
    rows: results.map(({ scenario, rounds }) => [
      scenario,
      mean(rounds, (one) => one.perSecond),
      digits(spreadOf(rounds.map((one) => one.perSecond)).deviation),
      mean(rounds, (one) => one.latencies.percentiles['50']),
      mean(rounds, (one) => one.latencies.percentiles['99']),
      mean(rounds, (one) => one.serverMicros),
      mean(rounds, (one) => one.bytesPerRequest / 1000),
      String(rounds.flatMap(({ errors }) => Object.values(errors)).reduce((a, b) => a + b, 0)),
    ]),
  };
}

function slowestTable({
  slowest,
  searched = 0,
}: NonNullable<Parts['query']>['results']): ReportTable | undefined {
  const note =
    `Of ${digits(searched)}, random ones and changed versions of the worst, over generated points and data sets ` +
    'made to be slow. A query that takes long goes to a thread of the slow lane.';
  return slowTable('The slowest queries that a search finds', note, slowest);
}

function longestHeldTable({
  longestHeld,
}: NonNullable<Parts['query']>['results']): ReportTable | undefined {
  const note = 'Of the same search: for so long a query holds a thread.';
  return slowTable(
    'The queries that hold a thread longest, of those that a search finds',
    note,
    longestHeld,
  );
}

function slowTable(
  title: string,
  note: string,
  found: readonly Slow[] = [],
): ReportTable | undefined {
  if (found.length === 0) return undefined;
  return {
    title,
    note,
    head: ['data', 'query', 'matches', 'ms', 'held, ms'],
    rows: found.map(({ data, query, matches, millis, held }) => [
      data,
      query,
      digits(matches),
      digits(millis),
      digits(held),
    ]),
  };
}

function queryTable(results: NonNullable<Parts['query']>['results']): ReportTable {
  return {
    title: 'Queries, in process',
    note: 'Waypost counts, orders and takes page 1; the others only collect what matches.',
    head: ['points', 'kind', 'matches', 'contender', 'min µs', 'mean µs', '±', 'to Waypost'],
    rows: results.cases.flatMap(({ points, kind, target, micros }) =>
      Object.entries(micros).map(([name, { min, mean, median, deviation }]) => [
        digits(points),
        kind,
        target,
        name,
        digits(min),
        digits(mean),
        digits(deviation),
        `${digits(median / micros['Waypost']!.median)} ×`,
      ]),
    ),
  };
}

function loadTable({ loads }: NonNullable<Parts['load']>['results']): ReportTable {
  return {
    title: 'Loading',
    note: 'From the start of the process until it listens; memory is the whole process.',
    head: [
      'points',
      'format',
      'file',
      'ready s',
      'to JSON.parse',
      'peak',
      'peak to NDJSON',
      'later',
    ],
    rows: loads.map((one) => [
      digits(one.points),
      one.format,
      size(one.fileBytes),
      digits(one.startMs.mean / 1000),
      one.toParse.rounds === 0 ? '–' : digits(one.toParse.median),
      size(one.peak),
      `${digits(one.peak / one.ndjsonBytes)} ×`,
      size(one.later),
    ]),
  };
}

function ratesTable({ rates }: NonNullable<Parts['load']>['results']): ReportTable {
  return {
    title: 'Pack and verify',
    note: 'Whole commands, the start of Node included.',
    head: ['command', 's', 'points/s', 'MB/s', 'peak'],
    rows: rates.map((one) => [
      one.command,
      digits(one.seconds.mean),
      digits(one.pointsPerSecond),
      digits(one.megabytesPerSecond),
      size(one.peak),
    ]),
  };
}

function reloadTable(results: NonNullable<Parts['reload']>['results']): ReportTable {
  const { quiet, reloading, ratio, failed, requests, rate, scenario, points } = results;
  const row = (name: string, { percentiles, max }: typeof quiet): string[] => [
    name,
    ...['50', '90', '99', '99.9'].map((p) => digits(percentiles[p]!)),
    digits(max),
  ];
  return {
    title: 'Reloads under load',
    note:
      `${scenario}, ${digits(rate)} requests/s, ${digits(points)} points, ${results.reloads.length} reloads: ` +
      `p99 ${digits(ratio)} × that without, ${failed} of ${digits(requests)} requests failed.`,
    head: ['ms', 'p50', 'p90', 'p99', 'p99.9', 'max'],
    rows: [row('without', quiet), row('reloading', reloading)],
  };
}

function postTable(results: NonNullable<Parts['post']>['results']): ReportTable {
  return {
    title: 'Accepting points',
    note:
      `${digits(results.points)} points, ${results.rounds.length} rounds. The clients send what is made once and take their ` +
      'share of the same cores. Bare Fastify has a process a core, and stores nothing.',
    head: ['what', 'least', 'mean', 'most', 'deviation'],
    rows: postRows(results).map(([what, ...rest]) => [what!.trim(), ...rest]),
  };
}

function scaleTable(results: NonNullable<Parts['scale']>['results']): ReportTable {
  const [first] = results;
  return {
    title: 'Ten times the points',
    note: 'Both services run side by side and take turns.',
    head: [
      'requests/s',
      `${digits(first?.points ?? 0)} points`,
      `${digits(first?.largePoints ?? 0)} points`,
      'ratio',
    ],
    rows: results.map(({ scenario, rounds, largeRounds, ratio }) => [
      scenario,
      mean(rounds, (one) => one.perSecond),
      mean(largeRounds, (one) => one.perSecond),
      `${digits(ratio.median)} ± ${digits(ratio.deviation)}`,
    ]),
  };
}

function mean(rounds: readonly Round[], read: (round: Round) => number | undefined): string {
  const values = rounds.map(read).filter((value) => value !== undefined);
  return values.length === 0 ? '–' : digits(spreadOf(values).mean);
}
