import { Turns } from '../../posts/media/address-turns.js';

/**
 * Makes what lets long work of a thread go on in turns, by address, one in a turn of the event loop:
 * it resolves once it is the caller's turn.
 */
export function createTurnstile(): (client: string) => Promise<void> {
  const waiting = new Turns<() => void>(Number.POSITIVE_INFINITY);
  let isOpen = false;

  function next(): void {
    const begin = waiting.next();
    isOpen = begin !== undefined;
    if (begin === undefined) return;
    begin();
    setImmediate(next);
  }

  return (client) =>
    new Promise((resolve) => {
      waiting.add(client, resolve);
      if (!isOpen) setImmediate(next);
      isOpen = true;
    });
}
