import { Agent } from 'node:http';
import * as assert from 'uvu/assert';
import { metricsOf } from './operating.js';
import type { Service } from './service.js';

const CLIENTS = 6;

/**
 * Has clients send `count` requests by `send`, which resolves to a status, and asserts that the
 * service's memory grew by less than `most` bytes in the last two thirds of them. Returns how often
 * each status came.
 */
export async function fuzz(
  service: Service,
  count: number,
  most: number,
  send: (agent: Agent) => Promise<number | undefined>,
): Promise<ReadonlyMap<number | undefined, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const statuses = new Map<number | undefined, number>();
  let sent = 0;
  const sendUpTo = async (limit: number): Promise<void> => {
    const work = async (): Promise<void> => {
      while (sent < limit) {
        sent++;
        const status = await send(agent);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, work));
  };
  const resident = async (): Promise<number> =>
    (await metricsOf(service)).value('process_resident_memory_bytes');
  await sendUpTo(Math.floor(count / 3));
  const settled = await resident();
  await sendUpTo(count);
  const growth = (await resident()) - settled;
  assert.ok(growth < most, `grew by ${growth} bytes`);
  agent.destroy();
  return statuses;
}

/** Asserts that a body is the JSON of an error: texts for everything that was wrong. */
export function assertTexts(body: string, label: string): void {
  const texts = Object.values(JSON.parse(body) as object).flat();
  assert.ok(texts.length > 0 && texts.every((text) => typeof text === 'string'), label);
}
