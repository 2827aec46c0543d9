import type { Agent } from 'node:http';
import * as assert from 'uvu/assert';
import { type Envelope, jsonPost, LIST, type Reply } from './client.js';
import type { Service } from './service.js';

/** A record of a list. */
export type Listed = Envelope['results'][number];

/** Posts a point whose comment is its key. */
export function postKeyed(
  service: Pick<Service, 'get'>,
  key: string,
  agent?: Agent,
): Promise<Reply> {
  const asked = jsonPost({ lat: '10', lon: '20', comment: key }, { 'Idempotency-Key': key });
  return service.get(LIST, { ...asked, ...(agent && { agent }) });
}

/** Posts a point that is to be accepted, and returns its sequence. */
export async function post(service: Pick<Service, 'get'>, key: string): Promise<number> {
  const { status, headers, text } = await postKeyed(service, key);
  assert.ok(status === 201, `${status} ${text}`);
  return Number(headers['waypost-sequence']);
}

/** Every record that the service has, by id. */
export async function listAll(service: Service, agent: Agent): Promise<Listed[]> {
  const records: Listed[] = [];
  for (let page = 1, count = 1; records.length < count; page++) {
    const path = `${LIST}?page_size=1000&page=${page}`;
    const envelope = (await service.get(path, { agent })).json<Envelope>();
    count = envelope.count;
    records.push(...envelope.results);
  }
  return records;
}
