import { exportEncoder } from '../../exports/encoders.js';
import { Export } from '../../exports/export.js';
import { reclaimMemory } from '../../reload/background.js';
import { type Generation, identityOf, type State } from '../../reload/generation.js';
import { exportEnded } from '../request/http-error.js';
import type { ExportBegin, ExportStep, LaneAnswer } from './question.js';
import { failureOf, giveUpFor, refusalOf } from './slow-lane.js';

/** An export under way: what it is made from stays the same to its end. */
interface UnderWay {
  readonly file: Export;
  readonly state: State;
  readonly generation: string;
}

/** The exports that a thread of the slow lane makes, each by its number. */
export class LaneExports {
  readonly #all = new Map<number, UnderWay>();

  /** Makes the next piece; a new export is made from `generation`. */
  step(step: ExportStep, generation: Generation): LaneAnswer {
    const number = step.export!;
    try {
      const found = this.#all.get(number) ?? (step.begin && begin(step, step.begin, generation));
      if (found === undefined) return refusalOf(exportEnded());
      const { bytes, isLast } = found.file.next(step.bytes);
      this.#all.set(number, found);
      if (isLast) this.drop(number, generation);
      return {
        ...{ export: number, body: bytes, isLast },
        ...{ state: found.state, generation: found.generation },
      };
    } catch (error) {
      this.drop(number, generation);
      return failureOf(error);
    }
  }

  /** Ends an export; `served` is the generation that is served now. */
  drop(number: number, served: Generation): void {
    const { generation } = this.#all.get(number) ?? {};
    if (!this.#all.delete(number) || generation === identityOf(served)) return;
    if (![...this.#all.values()].some((one) => one.generation === generation)) reclaimMemory();
  }
}

function begin(
  step: ExportStep,
  { format, query, isGzipped }: ExportBegin,
  generation: Generation,
): UnderWay {
  const { engine, delta } = generation;
  const state = generation.state();
  const source = { engine, delta, length: state.length };
  const check = (): void => giveUpFor(step);
  const file = new Export(source, query, exportEncoder(format), { isGzipped, check });
  return { file, state, generation: identityOf(generation) };
}
