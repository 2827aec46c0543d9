import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Attack } from './material.js';

/**
 * No attack at all, for comparison: as many threads as there are cores compute and ask nothing. It
 * shows what a machine whose cores are all taken does to ordinary clients by itself.
 */
export const CONTROL: Attack = {
  name: 'control',
  title: 'nothing is sent, but all cores compute',
  isAtNormalPriority: true,
  async run({ signal, tally }) {
    const threads = Array.from(
      { length: availableParallelism() },
      () => new Worker('for (;;);', { eval: true }),
    );
    tally.sent++;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.all(threads.map((thread) => thread.terminate()));
  },
};
