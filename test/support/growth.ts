import * as assert from 'uvu/assert';
import { metricsOf } from './operating.js';
import type { Service } from './service.js';

/**
 * Sends a third of `count` requests, then the rest, and asserts that the service's memory grew by
 * less than `most` bytes in the rest. `sendUpTo` sends until so many have been sent in all.
 */
export async function staysSmall(
  service: Service,
  count: number,
  most: number,
  sendUpTo: (limit: number) => Promise<void>,
): Promise<void> {
  const resident = async (): Promise<number> =>
    (await metricsOf(service)).value('process_resident_memory_bytes');
  await sendUpTo(Math.floor(count / 3));
  const settled = await resident();
  await sendUpTo(count);
  const growth = (await resident()) - settled;
  assert.ok(growth < most, `grew by ${growth} bytes`);
}
