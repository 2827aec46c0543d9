import { setMaxListeners } from 'node:events';
import { setPriority } from 'node:os';
import { benchRandom } from '../places.js';
import { attackOf } from './kinds.js';
import { emptyTally } from './sockets.js';

// entry of a process that attacks a service of this machine until it is told to stop

/** What an attacker is told, as JSON in its first argument. */
export interface AttackOrder {
  readonly attack: string;
  readonly port: number;
  readonly folder: string;
  readonly points: number;
  readonly seed: number;
  /** The attacker ends by itself after these seconds, whatever happens. */
  readonly maxSeconds: number;
}

/** Nice value: a real attacker has its own machine, and takes no processor from the service. */
const LOW_PRIORITY = 15;
const TALLY_MS = 200;

async function main(order: AttackOrder): Promise<void> {
  const { attack, port, folder, points, seed, maxSeconds } = order;
  const { run, isAtNormalPriority } = attackOf(attack);
  if (!isAtNormalPriority) setPriority(LOW_PRIORITY);
  const ending = new AbortController();
  // each connection adds a listener
  setMaxListeners(0, ending.signal);
  const end = (): void => ending.abort();
  const tally = emptyTally();
  const report = (): void => void process.send?.(tally);
  const timer = setInterval(report, TALLY_MS);
  setTimeout(() => process.exit(1), maxSeconds * 1000).unref();
  process.once('message', end);
  // the process that asked for the attack is gone
  process.once('disconnect', end);
  const random = benchRandom(seed, 300);
  await run({ port, folder, points, random, tally, signal: ending.signal });
  clearInterval(timer);
  if (process.connected) process.send!(tally, () => process.exit(0));
}

await main(JSON.parse(process.argv[2]!) as AttackOrder);
