import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks whether another process has ended. */
const LOOK_MS = 100;

interface Waiting {
  /** Milliseconds to wait at most. */
  readonly mostMs: number;
  /** Whether an error says that another process owns what is to be opened. */
  isOwned(error: unknown): boolean;
  /** Once, before it is waited for. */
  onWait(): void;
}

/**
 * Opens what one process owns at a time, as soon as a process that is still ending has let go of
 * it. Rejects with what `open` rejects with.
 */
export async function openOwned<T>(
  open: () => Promise<T>,
  { mostMs, isOwned, onWait }: Waiting,
): Promise<T> {
  const until = performance.now() + mostMs;
  for (let round = 0; ; round++) {
    try {
      return await open();
    } catch (error) {
      if (!isOwned(error) || performance.now() > until) throw error;
      if (round === 0) onWait();
      await delay(LOOK_MS);
    }
  }
}
