import type { ReloadResults } from '../reload.js';
import { digits } from '../support/table.js';
import { escapeHtml, figure, line, logTicks, px, scaleOf, tickText, WIDTH } from './svg.js';

const HEIGHT = 320;
const LEFT = 56;
const RIGHT = WIDTH - 12;
const TOP = 22;
const BOTTOM = HEIGHT - 40;
const SERIES = ['p50', 'p99', 'max'] as const;

/** Latencies over time; the stretches in which a reload ran are shaded. */
export function timelineChart({ timeline, reloads, rate, scenario }: ReloadResults): string {
  const last = Math.max(1, ...timeline.map(({ at }) => at));
  const values = timeline.flatMap((tick) => SERIES.map((name) => tick[name]));
  const ticks = logTicks(Math.min(...values), Math.max(...values));
  const y = scaleOf(ticks, true, BOTTOM, TOP);
  const x = (milliseconds: number): number => LEFT + (milliseconds / last) * (RIGHT - LEFT);
  const bands = reloads.map(({ from, to }, i) => {
    const text = `reload ${i + 1}: ${digits((to - from) / 1000)} s`;
    return (
      `<g><title>${escapeHtml(text)}</title><rect class="band" x="${px(x(from))}" y="${TOP}" ` +
      `width="${px(x(to) - x(from))}" height="${BOTTOM - TOP}"/>` +
      `<text class="band-label" x="${px((x(from) + x(to)) / 2)}" y="${TOP - 7}">reload</text></g>`
    );
  });
  const grid = ticks.map(
    (tick) =>
      line(LEFT, y(tick), RIGHT, y(tick), 'grid') +
      `<text class="label" x="${LEFT - 8}" y="${px(y(tick) + 4)}">${tickText(tick)}</text>`,
  );
  const seconds = Math.ceil(last / 1000 / 8 / 5) * 5;
  const times: string[] = [];
  for (let at = 0; at * 1000 <= last; at += seconds) {
    times.push(`<text class="tick" x="${px(x(at * 1000))}" y="${BOTTOM + 18}">${at} s</text>`);
  }
  const paths = SERIES.map((name, i) => {
    const points = timeline.map((tick) => `${px(x(tick.at))},${px(y(tick[name]))}`);
    return `<polyline class="l${i}" points="${points.join(' ')}"/>`;
  });
  const title = `Latency over time: ${scenario}, ${digits(rate)} requests/s, open loop, ms (logarithmic)`;
  return figure(
    title,
    SERIES,
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">` +
      `${bands.join('')}${grid.join('')}${times.join('')}${paths.reverse().join('')}</svg>`,
  );
}
