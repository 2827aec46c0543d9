import { type Hash, hashBytes } from '../../index/records.js';
import type { Budget } from '../../model/budget.js';
import type { State } from '../../reload/generation.js';
import type { BodyMemory, Page, QueryWork } from '../formats/representation.js';
import { pageTooLarge } from '../request/http-error.js';
import { type AnswerHead, codedHead, type Dependence, Heads } from './head.js';
import type { Question, Served, View } from './question.js';
import { hashPage, spellHash } from './validators.js';

export interface Made {
  /** The answers that the client may get: compressed, where it may be, then as it is. */
  readonly heads: readonly AnswerHead[];
  readonly body: Buffer<ArrayBuffer>;
  readonly work: QueryWork | undefined;
  readonly state: State;
}

/** What an answer may take, and whether it is needed. */
export interface Means {
  readonly budget: Budget;
  readonly memory: BodyMemory;
  /** Whether the client has one of these answers already. */
  isKnown(heads: readonly AnswerHead[]): boolean;
}

/** Undefined where the client has it already. Throws what its view and the budget throw. */
export type Make = (question: Question, served: Served, means: Means) => Made | undefined;

export interface MakeSettings extends Pick<Dependence, 'compress' | 'corsOrigin'> {
  readonly maxPageBytes: number;
}

export function createMake<Wanted>(settings: MakeSettings, view: View<Wanted>): Make {
  const heads = new Heads(settings, view);

  function headsOf(question: Question, state: State, content: Hash): readonly AnswerHead[] {
    const { asked, coding, name } = question;
    const wanted = question.wanted as Wanted;
    const lasts = view.lasts?.(wanted, state.name) === true;
    const format = view.formats[question.format]!;
    let plain = heads.of(state, format, name + spellHash(content), lasts);
    const stream = view.stream?.(wanted, asked);
    if (stream !== undefined) {
      const link = `<${stream}>; rel="alternate"; type="application/x-ndjson"`;
      plain = { ...plain, lines: `${plain.lines}Link: ${link}\r\n` };
    }
    return coding === undefined ? [plain] : [codedHead(plain, coding), plain];
  }

  return (question, served, { budget, memory, isKnown }) => {
    const { state } = served;
    const { asked, target } = question;
    const format = view.formats[question.format]!;
    const { isNamedByBody, maxBytes, sizeParameter } = format;
    const page = view.find(question.wanted as Wanted, asked, served, budget, format);
    if (page instanceof Uint8Array) {
      const named = headsOf(question, state, hashBytes([page]));
      if (isKnown(named)) return undefined;
      const body = memory.take(page.length);
      body.set(page);
      return { heads: named, body, work: undefined, state };
    }
    checkSize(page, Math.min(settings.maxPageBytes, maxBytes), sizeParameter);
    const early = isNamedByBody ? undefined : headsOf(question, state, hashPage(page));
    if (early !== undefined && isKnown(early)) return undefined;
    const headers = isNamedByBody ? heads.shared(format) : [];
    const exchange = { target, snapshot: state.snapshot, headers, memory, budget };
    const body = format.encode!(page, exchange);
    const named = early ?? headsOf(question, state, hashBytes([body]));
    if (early === undefined && isKnown(named)) {
      memory.give(body);
      return undefined;
    }
    return { heads: named, body, work: page.work, state };
  };
}

/** Refuses a page whose records have more bytes than `limit`, before there is memory for them. */
function checkSize({ records }: Page, limit: number, parameter?: string): void {
  const { count, size } = records;
  if (size <= limit || count <= 1) return;
  throw pageTooLarge({ count, size, longest: records.longest(), limit }, parameter);
}
