/** The environment variable that says how far the clock of a service is ahead, in milliseconds. */
const AHEAD = 'CLOCK_AHEAD_MS';
/** How often a service looks for posts that are a day old, and how often one with another clock. */
const [LOOK_MS, EARLY_MS] = [60_000, 50];

/** Starts a service with a clock ahead, and with looks for day-old posts every moment. */
export function aheadBy(ms: number): Record<string, string> {
  return { [AHEAD]: String(ms), NODE_OPTIONS: `--import=${import.meta.url}` };
}

// what follows runs in each thread of the service, before anything of its own

const ahead = Number(process.env[AHEAD]);
if (process.env[AHEAD] !== undefined) {
  const { now } = Date;
  Date.now = () => now() + ahead;
  const origin = performance.timeOrigin + ahead;
  Object.defineProperty(performance, 'timeOrigin', { value: origin });
  const repeat = globalThis.setInterval;
  globalThis.setInterval = ((work: () => void, ms: number) =>
    repeat(work, ms === LOOK_MS ? EARLY_MS : ms)) as typeof setInterval;
}
