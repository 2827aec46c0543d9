import { spreadOf } from '../support/stats.js';
import { digits, size } from '../support/table.js';
import { barChart, type ChartRow, dotChart, timeChart } from './plot.js';
import type { Parts } from './types.js';

/** A chart and the title of the table it stands above. */
export interface ReportChart {
  readonly table: string;
  readonly svg: string;
}

const MILLION = 1_000_000;
const SHOWN_PERCENTILES = ['50', '90', '99', '99.9'] as const;

/** Every chart of a report; those of parts that were not run are left out. */
export function reportCharts(parts: Parts): ReportChart[] {
  const { http, open, query, load, reload, peers } = parts;
  const charts: ReportChart[] = [];
  const add = (table: string, svg: string): void => void charts.push({ table, svg });
  if (peers) add('Beside what else there is', peersChart(peers.results));
  if (http) {
    add('Scenarios, closed loop', throughputChart(http.results));
    add('Scenarios, closed loop', latencyChart(http.results, 'closed loop'));
  }
  if (open) {
    const loop = 'open loop, waiting for a connection included';
    add('Scenarios, open loop at a fixed rate', latencyChart(open.results, loop));
  }
  if (query) add('Queries, in process', queryChart(query.results));
  if (load) {
    add('Loading', startChart(load.results));
    add('Loading', memoryChart(load.results));
  }
  if (reload) add('Reloads under load', timelineChart(reload.results));
  return charts;
}

function throughputChart(results: NonNullable<Parts['http']>['results']): string {
  const rows = results.map(({ scenario, rounds }) => {
    const { mean, deviation } = spreadOf(rounds.map((one) => one.perSecond));
    const text = `${digits(mean)} ± ${digits(deviation)}`;
    return { label: scenario, marks: [{ value: mean, deviation, series: 0, text }] };
  });
  return barChart(rows, { title: 'Throughput by scenario', unit: 'requests/s', log: false });
}

function latencyChart(results: NonNullable<Parts['http']>['results'], loop: string): string {
  const rows: ChartRow[] = results.map(({ scenario, rounds }) => ({
    label: scenario,
    marks: SHOWN_PERCENTILES.map((p, series) => {
      const value = spreadOf(rounds.map((one) => one.latencies.percentiles[p]!)).median;
      return { value, series };
    }),
  }));
  return dotChart(rows, {
    title: `Latency percentiles by scenario, ${loop}`,
    unit: 'ms, logarithmic',
    log: true,
    legend: SHOWN_PERCENTILES.map((p) => `p${p}`),
  });
}

function peersChart({ results }: NonNullable<Parts['peers']>['results']): string {
  const rows = results.map(({ scenario, peer, rounds, ours }) => {
    const { mean } = spreadOf(rounds.map((one) => one.perSecond));
    const ratio = peer === 'Waypost' ? '' : ` · ${digits(1 / ours.median)} ×`;
    const series = peer === 'Waypost' ? 0 : peer.startsWith('bare') ? 4 : 1;
    return {
      label: peer,
      group: scenario,
      marks: [{ value: mean, series, text: digits(mean) + ratio }],
    };
  });
  return barChart(rows, {
    title: 'The same requests by Waypost and by what else there is (× of Waypost)',
    unit: 'requests/s, logarithmic',
    log: true,
    labelWidth: 190,
  });
}

function queryChart({ cases }: NonNullable<Parts['query']>['results']): string {
  const shown = cases.filter(({ points }) => points === MILLION);
  const chosen = shown.length > 0 ? shown : cases;
  const names = [...new Set(chosen.flatMap(({ micros }) => Object.keys(micros)))];
  const rows: ChartRow[] = chosen.map(({ kind, target, micros }) => ({
    label: target === 'all' ? 'all match' : `${digits(Number(target))} match`,
    group: kind,
    marks: Object.entries(micros).map(([name, { median }]) => ({
      value: median,
      series: names.indexOf(name),
    })),
  }));
  return dotChart(rows, {
    title: `Time of a query in process, ${digits(chosen[0]?.points ?? 0)} points`,
    unit: 'µs, logarithmic',
    log: true,
    legend: names,
  });
}

function startChart({ loads }: NonNullable<Parts['load']>['results']): string {
  const rows = loads.map(({ points, format, startMs }) => ({
    label: format,
    group: `${digits(points)} points`,
    marks: [
      {
        value: startMs.mean / 1000,
        deviation: startMs.deviation / 1000,
        series: seriesOf(format),
        text: `${digits(startMs.mean / 1000)} s`,
      },
    ],
  }));
  return barChart(rows, {
    title: 'Process start to ready',
    unit: 's',
    log: false,
    labelWidth: 190,
  });
}

function memoryChart({ loads }: NonNullable<Parts['load']>['results']): string {
  const rows = loads.map(({ points, format, peak, later, ndjsonBytes }) => ({
    label: format,
    group: `${digits(points)} points, ${size(ndjsonBytes)} as NDJSON`,
    marks: [
      { value: peak / 1e9, series: 1 },
      { value: later / 1e9, series: 0 },
    ],
  }));
  return dotChart(rows, {
    title: 'Memory of the whole process',
    unit: 'GB',
    log: false,
    legend: ['a few seconds later', 'peak while loading'],
    labelWidth: 270,
  });
}

/** Latencies over time; the stretches in which a reload ran are shaded. */
function timelineChart(results: NonNullable<Parts['reload']>['results']): string {
  const { timeline, reloads, rate, scenario } = results;
  const lines = (['p50', 'p99', 'max'] as const).map((name) => ({
    name,
    points: timeline.map((tick): [number, number] => [tick.at / 1000, tick[name]]),
  }));
  const bands = reloads.map(({ from, to }) => [from / 1000, to / 1000] as const);
  const title = `Latency over time: ${scenario}, ${digits(rate)} requests/s, open loop, ms (logarithmic)`;
  return timeChart(lines, bands, title);
}

/** The colour of a format: a reference that is not the service has one of its own. */
function seriesOf(format: string): number {
  return format.startsWith('JSON.parse') ? 4 : 0;
}
