import type { Worker } from 'node:cluster';

/** What Node hands a process: the bare handle of a connection. */
interface Handle {
  close(): void;
}

/**
 * Hangs up on the connection that a process was being handed when it died. Node's cluster waits for the
 * dead process to say that it took it, and keeps its own copy open for ever: the client would wait as
 * long. It hands over one at a time, so the last is the only one, and closing a handle again does nothing.
 */
export function hangUpAfter(worker: Worker): void {
  const child = worker.process;
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  let handed: Handle | undefined;
  child.send = (...args: unknown[]): boolean => {
    if (isHandle(args[1])) handed = args[1];
    return send(...args);
  };
  worker.once('exit', () => handed?.close());
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'close' in value && 'fd' in value;
}
