import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { dieTogether } from '../support/service.js';
import type { AttackOrder } from './attacker.js';
import { emptyTally, type Tally } from './sockets.js';

/** An attack that is under way, in a process of its own. */
export interface RunningAttack {
  /** What it did so far. */
  readonly tally: Tally;
  /** Ends it; resolves with all it did. */
  end(): Promise<Tally>;
}

/** An attacker that does not end when told to is killed after this time. */
const PATIENCE_MS = 3_000;

/** Starts an attack; resolves once its process runs. It dies with this process at the latest. */
export async function startAttack(order: AttackOrder): Promise<RunningAttack> {
  const script = join(import.meta.dirname, 'attacker.js');
  const child = fork(script, [JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = dieTogether(child);
  let tally = emptyTally();
  child.on('message', (message) => {
    tally = message as Tally;
  });
  const begun = once(child, 'message').then(() => true);
  if ((await Promise.race([begun, gone])) !== true)
    throw new Error(`The attack ${order.attack} ended at once.`);
  return {
    get tally() {
      return tally;
    },
    async end() {
      if (child.connected) child.send('end');
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await gone;
      clearTimeout(timer);
      return tally;
    },
  };
}
