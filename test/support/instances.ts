import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Callback, Test } from 'uvu';
import * as assert from 'uvu/assert';
import { LIST } from './client.js';
import { type Database, POSTGRES, startDatabase } from './database.js';
import { makeFolder } from './folder.js';
import { FIRST_NOTE } from './kept-posts.js';
import { type OwnService, startOwnService } from './own-service.js';
import type { Service } from './service.js';

/** What is asked of an instance. */
export type Asking = Pick<OwnService, 'get'>;

/** The instances and the database of a file of tests. */
export class Instances {
  /** Are stopped after each test. */
  readonly running: Pick<Service, 'stop'>[] = [];
  readonly #test: Test;
  #database: Database | undefined;
  #databases = 0;

  constructor(test: Test) {
    this.#test = test;
    if (POSTGRES === undefined) {
      console.log('skipped: what a fleet does: there is no PostgreSQL here');
      return;
    }
    test.before(async () => {
      this.#database = await startDatabase();
    });
    test.after.each(() => this.stop());
  }

  get database(): Database {
    return this.#database!;
  }

  /** A test that needs PostgreSQL. */
  check(name: string, run: Callback): void {
    if (POSTGRES !== undefined) this.#test(name, run);
  }

  async newDatabase(): Promise<string> {
    const name = `fleet${this.#databases++}`;
    await this.database.make(name);
    return name;
  }

  /** Starts an instance in this process. */
  async start(path: string, address: string, ...flags: string[]): Promise<OwnService> {
    const limits = ['--settle', '0', '--log-level', 'debug'];
    const given = ['--snapshot', path, '--journal', address, ...limits, ...flags];
    const service = await startOwnService(given);
    this.running.push(service);
    return service;
  }

  async stop(): Promise<void> {
    for (const one of this.running.splice(0).reverse()) await one.stop();
  }
}

/** A snapshot file with one note. */
export function snapshot(): string {
  const path = join(makeFolder(), 'notes.ndjson');
  write(path, FIRST_NOTE);
  return path;
}

/** The time of the file, when rows count as exported, is the same for the same records. */
export function write(path: string, records: string): void {
  writeFileSync(path, records);
  utimesSync(path, 1_700_000_000, 1_700_000_000 + records.length);
}

/** Comments of the points that have one, sorted: each is a key. */
export async function keysIn(service: Asking, sequence: number): Promise<string[]> {
  const headers = { 'Waypost-At-Least': String(sequence) };
  const reply = await service.get(`${LIST}?page_size=1000`, { headers });
  assert.is(reply.status, 200, reply.text);
  const { results } = reply.json<{ results: { comment: string }[] }>();
  return results.flatMap(({ comment }) => comment || []).sort();
}
