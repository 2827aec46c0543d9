import type { Problem } from '../../model/point.js';
import { InputError } from '../../model/quote.js';
import type { RecordProblem, SnapshotFormat } from '../snapshot.js';

const MAX_SHOWN = 10;

/** Counts invalid records and keeps what is wrong with the first ones. */
export class ProblemLog {
  readonly first: RecordProblem[] = [];
  #invalid = 0;
  readonly #unit: 'line' | 'record';

  constructor(format: SnapshotFormat) {
    this.#unit = format === 'ndjson' || format === 'csv' ? 'line' : 'record';
  }

  get invalid(): number {
    return this.#invalid;
  }

  /** Notes one record, with all that is wrong with it. */
  add(place: number, problems: readonly Problem[]): void {
    this.#invalid += 1;
    for (const { field, reason } of problems) {
      if (this.first.length === MAX_SHOWN) return;
      this.first.push({ place: `${this.#unit} ${place}`, field, reason });
    }
  }

  /** The error that lists them; `summary` says in the first line what it means. */
  error(path: string, summary: string): InputError {
    const lines = this.first.map(
      ({ place, field, reason }) => `  ${path}: ${place}: ${field}: ${reason}`,
    );
    return new InputError([`${path}: ${summary}`, ...lines].join('\n'));
  }
}

const MAX_KEYS = 100;
const MAX_KEY_LENGTH = 60;
const OTHERS = '(other keys)';

/**
 * Counts keys that records may not have; a file of ever new ones does not take ever more memory.
 */
export class UnknownKeys {
  readonly #counts = new Map<string, number>();

  add(key: string): void {
    const name = key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH)}…` : key;
    const isKnown = this.#counts.has(name) || this.#counts.size < MAX_KEYS;
    const slot = isKnown ? name : OTHERS;
    this.#counts.set(slot, (this.#counts.get(slot) ?? 0) + 1);
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
