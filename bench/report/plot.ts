import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, MarkAreaComponent } from 'echarts/components';
import { type EChartsCoreOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { escapeHtml } from './escape.js';

use([
  BarChart,
  CustomChart,
  GridComponent,
  LineChart,
  MarkAreaComponent,
  ScatterChart,
  SVGRenderer,
]);

/** Width of every chart, in its own units; the page scales it. */
const WIDTH = 860;
const ROW = 26;
/** Room above and below the rows: the axis has its labels and its unit. */
const EDGES = 60;
const SOFT = 'var(--soft)';
const FOREGROUND = 'var(--fg)';

/** One bar, or several values on one line. */
export interface ChartRow {
  readonly label: string;
  /** Rows of one group stand together, under its name. */
  readonly group?: string;
  readonly marks: readonly Mark[];
}

/** A value of a row. */
export interface Mark {
  readonly value: number;
  /** Half the length of the whisker. */
  readonly deviation?: number;
  /** Index into the legend, and so its colour. */
  readonly series: number;
  /** Shown beside a bar. */
  readonly text?: string;
}

export interface ChartOptions {
  readonly title: string;
  readonly unit: string;
  readonly log: boolean;
  readonly legend?: readonly string[];
  readonly labelWidth?: number;
}

/** A line of a chart: the head of a group, or a row. */
type Line = { readonly head: string } | ChartRow;

/** Horizontal bars, one a row, each with its text and the whisker of its deviation. */
export function barChart(rows: readonly ChartRow[], options: ChartOptions): string {
  const lines = linesOf(rows);
  const bars = lines.map((line) => {
    const mark = markOf(line);
    return (
      mark && { value: mark.value, itemStyle: { color: colour(mark.series), borderRadius: 2 } }
    );
  });
  // invisible points at the end of the whiskers, which carry the texts
  const texts = lines.flatMap((line, at) => {
    const { value = 0, deviation = 0, text } = markOf(line) ?? {};
    return text === undefined
      ? []
      : [{ value: [value + deviation, at], label: { formatter: text } }];
  });
  const whiskers = lines.flatMap((line, at) => {
    const { value = 0, deviation = 0 } = markOf(line) ?? {};
    return deviation > 0 ? [[Math.max(value - deviation, 0), value + deviation, at]] : [];
  });
  const label = { show: true, position: 'right', color: FOREGROUND };
  const series = [
    { type: 'bar', data: bars, barWidth: 16 },
    { type: 'scatter', data: texts, symbolSize: 0, itemStyle: { opacity: 1 }, label },
    { type: 'custom', data: whiskers, encode: { x: [0, 1], y: 2 }, renderItem: drawWhisker, z: 3 },
  ];
  return rowChart(lines, options, series);
}

/** Several dots a row: percentiles, or contenders. */
export function dotChart(rows: readonly ChartRow[], options: ChartOptions): string {
  const lines = linesOf(rows);
  const count = 1 + Math.max(...rows.flatMap(({ marks }) => marks.map(({ series }) => series)));
  const series = Array.from({ length: count }, (_, index) => ({
    type: 'scatter',
    symbolSize: 11,
    itemStyle: { color: colour(index), borderColor: 'var(--card)', borderWidth: 1.5, opacity: 1 },
    data: lines.flatMap((line, at) =>
      'head' in line
        ? []
        : line.marks.filter((one) => one.series === index).map(({ value }) => [value, at]),
    ),
  }));
  return rowChart(lines, options, series);
}

/** Lines over time, on a logarithmic axis; stretches of time are shaded. */
export function timeChart(
  lines: readonly {
    readonly name: string;
    readonly points: readonly [seconds: number, y: number][];
  }[],
  bands: readonly (readonly [from: number, to: number])[],
  title: string,
): string {
  const series = lines.map(({ name, points }, index) => ({
    type: 'line',
    name,
    data: points,
    showSymbol: false,
    lineStyle: { color: colour(index), width: 2 },
    ...(index > 0 ? {} : { markArea: markAreaOf(bands) }),
  }));
  const option = {
    ...BASE,
    grid: { left: 56, right: 12, top: 24, bottom: 30 },
    xAxis: {
      ...AXIS,
      type: 'value',
      max: 'dataMax',
      axisLabel: { color: SOFT, formatter: '{value} s' },
    },
    yAxis: { ...AXIS, type: 'log', axisLabel: { color: SOFT, formatter: tickText } },
    series,
  };
  return figure(
    title,
    lines.map(({ name }) => name),
    draw(option, 320),
  );
}

function markAreaOf(bands: readonly (readonly [from: number, to: number])[]): object {
  const data = bands.map(([from, to]) => [{ name: 'reload', xAxis: from }, { xAxis: to }]);
  return { data, itemStyle: { color: 'var(--band)' }, label: { color: SOFT, fontSize: 11 } };
}

const BASE: EChartsCoreOption = {
  animation: false,
  textStyle: { fontFamily: 'system-ui, sans-serif', fontSize: 12 },
};
const AXIS = {
  axisLine: { show: false },
  axisTick: { show: false },
  splitLine: { show: true, lineStyle: { color: 'var(--line)' } },
  minorSplitLine: { show: false },
};

/** Rows from top to bottom, and the values along the bottom. */
function rowChart(lines: readonly Line[], options: ChartOptions, series: object[]): string {
  const { title, unit, log, legend = [], labelWidth = 150 } = options;
  const names = lines.map((line) =>
    'head' in line
      ? { value: line.head, textStyle: { color: FOREGROUND, fontWeight: 'bold' } }
      : { value: line.label, textStyle: { color: SOFT } },
  );
  const option = {
    ...BASE,
    grid: { left: labelWidth, right: 110, top: 8, bottom: EDGES - 8 },
    xAxis: {
      ...AXIS,
      type: log ? 'log' : 'value',
      name: unit,
      nameLocation: 'middle',
      nameGap: 28,
      nameTextStyle: { color: SOFT, fontSize: 11 },
      axisLabel: { color: SOFT, fontSize: 11, formatter: tickText },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: names,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { interval: 0 },
    },
    series,
  };
  return figure(title, legend, draw(option, lines.length * ROW + EDGES));
}

/** The chart as SVG text, made here: a report has no script, and its colours follow the page's. */
function draw(option: EChartsCoreOption, height: number): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  try {
    chart.setOption(option);
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** A chart with its title and what its colours mean. */
function figure(title: string, legend: readonly string[], svg: string): string {
  const keys = legend
    .map((name, i) => `<li><i class="k${i}"></i>${escapeHtml(name)}</li>`)
    .join('');
  const list = keys === '' ? '' : `<ul class="legend">${keys}</ul>`;
  return `<figure><figcaption>${escapeHtml(title)}</figcaption>${list}${svg}</figure>`;
}

interface WhiskerApi {
  value(dimension: number): number;
  coord(place: readonly [x: number, y: number]): [x: number, y: number];
}

function drawWhisker(_: unknown, api: WhiskerApi): object {
  const [x1, y1] = api.coord([api.value(0), api.value(2)]);
  const [x2, y2] = api.coord([api.value(1), api.value(2)]);
  return { type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: FOREGROUND, lineWidth: 2 } };
}

/** The rows with the head of each group before its first. */
function linesOf(rows: readonly ChartRow[]): Line[] {
  return rows.flatMap((row, i) => {
    const isFirst = row.group !== undefined && rows[i - 1]?.group !== row.group;
    return isFirst ? [{ head: row.group! }, row] : [row];
  });
}

function markOf(line: Line): Mark | undefined {
  return 'head' in line ? undefined : line.marks[0];
}

/** Series keep their colours in every chart. */
function colour(series: number): string {
  return `var(--s${series})`;
}

/** A tick's number, short: `20k`, `0.01`. */
function tickText(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
