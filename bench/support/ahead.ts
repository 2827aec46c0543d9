import { getPriority, setPriority } from 'node:os';

/** Clients would have machines of their own: here they go before the service where possible. */
const CLIENT_PRIORITY = 10;

/** Does something in this process before what others do, where the system allows that. */
export async function ahead<T>(work: () => Promise<T>): Promise<T> {
  const usual = getPriority();
  try {
    setPriority(Math.max(-20, usual - CLIENT_PRIORITY));
  } catch {
    return work();
  }
  try {
    return await work();
  } finally {
    // processes that this one starts would inherit it
    setPriority(usual);
  }
}
