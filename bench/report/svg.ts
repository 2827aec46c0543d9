/** Width of every chart, in its own units; the page scales it. */
export const WIDTH = 860;

const ROW = 26;
const TOP = 8;
const AXIS = 34;

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
  /** Shown when pointed at, and beside a bar. */
  readonly text: string;
}

export interface ChartOptions {
  readonly title: string;
  readonly unit: string;
  readonly log: boolean;
  readonly legend?: readonly string[];
  readonly labelWidth?: number;
}

/** Text that may stand in HTML and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Horizontal bars, one a row, from zero or on a logarithmic axis from the next power of ten below. */
export function barChart(rows: readonly ChartRow[], options: ChartOptions): string {
  return frame(rows, options, ({ x, y, left }) =>
    rows.map(({ marks }, i) => {
      const [mark] = marks;
      if (mark === undefined) return '';
      const { value, deviation = 0, series, text } = mark;
      const end = x(value);
      const top = y(i) - 8;
      const whisker =
        deviation > 0
          ? line(x(Math.max(value - deviation, 0)), y(i), x(value + deviation), y(i), 'whisker')
          : '';
      const after = deviation > 0 ? x(value + deviation) : end;
      return (
        `<g><title>${escapeHtml(text)}</title><rect class="s${series}" x="${left}" y="${top}" ` +
        `width="${px(Math.max(1, end - left))}" height="16" rx="2"/>${whisker}` +
        `<text class="value" x="${px(after + 6)}" y="${y(i) + 4}">${escapeHtml(text)}</text></g>`
      );
    }),
  );
}

/** Several dots a row, joined by a thin line: percentiles, or contenders. */
export function dotChart(rows: readonly ChartRow[], options: ChartOptions): string {
  return frame(rows, options, ({ x, y }) =>
    rows.map(({ marks }, i) => {
      const values = marks.map(({ value }) => value);
      const span = line(x(Math.min(...values)), y(i), x(Math.max(...values)), y(i), 'span');
      const dots = marks.map(
        ({ value, series, text }) =>
          `<circle class="s${series}" cx="${px(x(value))}" cy="${y(i)}" r="5.5">` +
          `<title>${escapeHtml(text)}</title></circle>`,
      );
      return span + dots.join('');
    }),
  );
}

interface Scale {
  readonly left: number;
  readonly x: (value: number) => number;
  readonly y: (row: number) => number;
}

/** Axis, grid, labels and legend around the marks that `draw` makes. */
function frame(
  rows: readonly ChartRow[],
  { title, unit, log, legend = [], labelWidth = 150 }: ChartOptions,
  draw: (scale: Scale) => string[],
): string {
  const values = rows.flatMap(({ marks }) =>
    marks.map(({ value, deviation = 0 }) => value + deviation),
  );
  // zero has no place on a logarithmic axis: it sits at its end
  const smallest = Math.min(...values.filter((value) => value > 0));
  const right = WIDTH - 110;
  const ticks = log ? logTicks(smallest, Math.max(...values)) : linearTicks(Math.max(...values));
  const x = scaleOf(ticks, log, labelWidth, right);
  const tops = rowTops(rows);
  const height = (tops.at(-1) ?? TOP) + ROW + AXIS;
  const y = (row: number): number => tops[row]! + ROW / 2;
  const grid = ticks.map(
    (tick) =>
      line(x(tick), TOP, x(tick), height - AXIS, 'grid') +
      `<text class="tick" x="${px(x(tick))}" y="${height - AXIS + 16}">${tickText(tick)}</text>`,
  );
  const labels = rows.map(({ label, group }, i) => {
    const isFirst = group !== undefined && rows[i - 1]?.group !== group;
    const head = isFirst
      ? `<text class="group" x="0" y="${tops[i]! - 6}">${escapeHtml(group)}</text>`
      : '';
    return `${head}<text class="label" x="${labelWidth - 8}" y="${y(i) + 4}">${escapeHtml(label)}</text>`;
  });
  const axis = `<text class="unit" x="${right}" y="${height - 4}">${escapeHtml(unit)}</text>`;
  return figure(
    title,
    legend,
    `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">` +
      `${grid.join('')}${labels.join('')}${draw({ left: labelWidth, x, y }).join('')}${axis}</svg>`,
  );
}

/** A chart with its title and what its colours mean. */
export function figure(title: string, legend: readonly string[], svg: string): string {
  const keys = legend
    .map((name, i) => `<li><i class="k${i}"></i>${escapeHtml(name)}</li>`)
    .join('');
  const list = keys === '' ? '' : `<ul class="legend">${keys}</ul>`;
  return `<figure><figcaption>${escapeHtml(title)}</figcaption>${list}${svg}</figure>`;
}

/** A straight line. */
export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line class="${kind}" x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}"/>`;
}

/** A coordinate: a tenth of a unit is enough. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Maps values to places between two edges; the ticks' ends are the axis's. */
export function scaleOf(
  ticks: readonly number[],
  log: boolean,
  from: number,
  to: number,
): (value: number) => number {
  const project = (value: number): number => (log ? Math.log10(value) : value);
  const [least, most] = [project(ticks[0]!), project(ticks.at(-1)!)];
  return (value) => {
    const share = (project(Math.max(value, log ? ticks[0]! : 0)) - least) / (most - least || 1);
    return from + share * (to - from);
  };
}

/** Powers of ten around the values. */
export function logTicks(least: number, most: number): number[] {
  const from = Math.floor(Math.log10(Math.max(least, 1e-6)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(most, 1e-6))));
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
}

/** About five round numbers from zero. */
export function linearTicks(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step);
}

/** A tick's number, short: `20k`, `0.01`. */
export function tickText(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function rowTops(rows: readonly ChartRow[]): number[] {
  let top = TOP;
  return rows.map(({ group }, i) => {
    if (group !== undefined && rows[i - 1]?.group !== group) top += 24;
    const own = top;
    top += ROW;
    return own;
  });
}
