import type { HttpResult } from './generators/types.js';
import type { Part } from './support/run.js';
import { changeOf, spreadOf } from './support/stats.js';
import { digits, textTable } from './support/table.js';

const MEASURES = [
  { name: 'requests/s', read: (round: HttpResult['rounds'][number]) => round.perSecond },
  {
    name: 'p50 ms',
    read: (round: HttpResult['rounds'][number]) => round.latencies.percentiles['50'],
  },
  {
    name: 'p99 ms',
    read: (round: HttpResult['rounds'][number]) => round.latencies.percentiles['99'],
  },
  { name: 'CPU µs', read: (round: HttpResult['rounds'][number]) => round.serverMicros },
] as const;

/**
 * Compares two runs of bench/http, given as the text of their files, scenario by scenario: means,
 * their change and what noise alone may do. Throws when they have no scenario in common.
 */
export function compareRuns(before: string, after: string): string {
  const first = readRun(before);
  const second = readRun(after);
  const rows: string[][] = [];
  for (const one of first.results) {
    const other = second.results.find(
      (candidate) => candidate.scenario === one.scenario && candidate.generator === one.generator,
    );
    if (other === undefined) continue;
    for (const { name, read } of MEASURES) {
      const a = one.rounds.map(read).filter((value) => value !== undefined);
      const b = other.rounds.map(read).filter((value) => value !== undefined);
      if (a.length === 0 || b.length === 0) continue;
      const [x, y] = [spreadOf(a), spreadOf(b)];
      const { change, noise, verdict } = changeOf(x, y);
      rows.push([
        `${one.scenario}, ${name}`,
        `${digits(x.mean)} ± ${digits(x.deviation)}`,
        `${digits(y.mean)} ± ${digits(y.deviation)}`,
        percent(change),
        `± ${percent(noise).replace('+', '')}`,
        x.rounds < 2 || y.rounds < 2 ? 'too few rounds' : verdict,
      ]);
    }
  }
  if (rows.length === 0) throw new Error('The two runs have no scenario in common.');
  const notes = differences(first, second);
  return [...notes, textTable(['', 'before', 'after', 'change', 'noise', ''], rows)].join('\n');
}

function readRun(text: string): Part<HttpResult[]> {
  const run = JSON.parse(text) as Part<HttpResult[]> & { parts?: { http?: Part<HttpResult[]> } };
  // a report of the whole suite has a part of bench/http
  const part = run.parts?.http ?? run;
  if (Array.isArray(part.results) && part.results[0]?.rounds !== undefined) return part;
  throw new Error('Expected a file that bench/http or bench/suite wrote.');
}

/** A line for each property of the machines in which the runs differ. */
function differences(a: Part<unknown>, b: Part<unknown>): string[] {
  const keys = ['cpu', 'cores', 'memoryGiB', 'node', 'platform'] as const;
  return keys
    .filter((key) => a.machine[key] !== b.machine[key])
    .map((key) => `Not alike: ${key} was ${a.machine[key]}, then ${b.machine[key]}.`);
}

function percent(share: number): string {
  return `${share > 0 ? '+' : ''}${(share * 100).toFixed(1)} %`;
}
