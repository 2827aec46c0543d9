import type { MessagePort } from 'node:worker_threads';
import type { DeltaMatches } from '../../index/delta.js';
import { type Hash, hashBytes } from '../../index/records.js';
import type { Budget } from '../../model/budget.js';
import type { Filters, QueryWork } from '../../model/query.js';
import { matchDelta } from '../../query/delta-match.js';
import type { Generation, GenerationParts, State } from '../../reload/current.js';
import type { BodyMemory, Format, Page, PageRecords } from '../formats/representation.js';
import type { Subject } from '../pages/site.js';
import { POST_TYPES } from '../request/body.js';
import { HttpError } from '../request/http-error.js';
import type { ExportQuery } from '../request/list-parameters.js';
import type { Coding, Offer } from '../request/negotiation.js';
import type { Parameter } from '../request/parameter.js';
import type { Pair } from '../request/query-string.js';
import { type AnswerHead, codedHead, type Dependence, type Facts, Heads } from './head.js';
import { hashPage, spellHash } from './validators.js';

/** All that an answer is made from besides the points. */
export interface Question {
  readonly view: string;
  readonly wanted: unknown;
  readonly asked: Asked;
  readonly target: string;
  /** The place of the format among those of the view. */
  readonly format: number;
  readonly coding: Coding | undefined;
  /** What decides about the answer besides state and format, for the entity tag. */
  readonly name: string;
}

export interface Waited {
  /** The address that limits count by: addresses take turns. */
  readonly client: string;
  /** Not 0 once nobody waits for the answer any more; shared by threads. */
  readonly ended: Int32Array;
}

export interface PageQuestion extends Question, Waited {
  /** Names the generation that is to answer. */
  readonly generation: string;
  readonly state: State;
  /** The generation itself, where no other will do. */
  readonly parts?: GenerationParts | undefined;
}

/** Asks for the next piece of an export, or the first; once nobody waits, it ends the export. */
export interface ExportStep extends Waited {
  /** The number that the lane gave the export; undefined of a new one. */
  readonly export: number | undefined;
  readonly begin?: ExportBegin;
  readonly bytes: number;
}

export interface ExportBegin {
  readonly format: string;
  readonly query: ExportQuery;
  readonly isGzipped: boolean;
}

export interface ExportPiece {
  readonly export: number;
  /** Encloses the bytes. */
  readonly body: MessagePort;
  readonly isLast: boolean;
  readonly state: State;
  readonly generation: string;
}

export interface LanePage {
  /** The answers that the client may get: compressed, where it may be, then as it is. */
  readonly heads: readonly AnswerHead[];
  /** Encloses the bytes. */
  readonly body: MessagePort;
  readonly work: QueryWork | undefined;
  /** May be newer than the state that was asked for. */
  readonly state: State;
}

/** Rejects with what a view throws, and with a 503 HttpError where too many wait. */
export type SlowLane = {
  ask(question: PageQuestion): Promise<LanePage>;
  step(step: ExportStep): Promise<ExportPiece>;
};

export interface Asked {
  readonly origin: string;
  readonly pairs: readonly Pair[];
  readonly path: Readonly<Record<string, string>>;
  /** The user of the token, at an address whose answers are personal. */
  readonly user: number | undefined;
}

/** What an address answers to GET, step by step. */
export interface View<Wanted> extends Facts {
  readonly formats: readonly Format[];
  /** Throws an HttpError for what cannot be used. */
  read(asked: Asked): Wanted;
  /** Whether the address names this state, so that it will never have another answer. */
  lasts?(wanted: Wanted, name: string): boolean;
  /** Target of a Link header to the same points as one stream, where a client goes page by page. */
  stream?(wanted: Wanted, asked: Asked): string | undefined;
  /** A page, or the bytes of a document. Throws NotFound, and what the budget throws. */
  find(
    wanted: Wanted,
    asked: Asked,
    served: Served,
    budget: Budget,
    format: Format,
  ): Page | Uint8Array;
}

/** An address of the interface, as OPTIONS and the OpenAPI document tell of it. */
export interface Address {
  readonly name: string;
  readonly path: string;
  readonly allow: string;
  readonly formats: readonly Offer[];
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly pathParameters?: readonly Parameter[];
  /** Media types of posts, as OPTIONS names them; all where absent. */
  readonly parses?: readonly string[];
  readonly actions?: object | undefined;
  readonly subject?: Subject;
}

/** An address whose GET the pipeline answers. */
export type ReadAddress<Wanted> = View<Wanted> & Address;

/** The body of the answer to OPTIONS. */
export function optionsOf(address: Address): object {
  const { title: name, description, formats, actions } = address;
  const { parses = POST_TYPES } = address;
  const renders = [...new Set(formats.map(({ mediaType }) => mediaType))];
  return { name, description, renders, parses, ...(actions !== undefined && { actions }) };
}

export interface Served {
  readonly generation: Generation;
  readonly state: State;
}

/** Matches in the delta of accepted points; undefined where there are none. */
export function matchBeside(
  { generation: { delta }, state: { length } }: Served,
  filters: Filters,
  budget: Budget,
): DeltaMatches | undefined {
  if (length === 0) return undefined;
  const rows = matchDelta(delta!, filters, 0, length, budget);
  return rows.length === 0 ? undefined : { delta: delta!, rows };
}

export interface Made extends Omit<LanePage, 'body'> {
  readonly body: Buffer<ArrayBuffer>;
}

interface Means {
  readonly budget: Budget;
  readonly memory: BodyMemory;
  /** Whether the client has one of these answers already; absent where that is not known here. */
  readonly isKnown?: (heads: readonly AnswerHead[]) => boolean;
}

/** Undefined where the client has it already. Throws what its view and the budget throw. */
export type Make = (question: Question, served: Served, means: Means) => Made | undefined;

interface MakeSettings extends Pick<Dependence, 'compress' | 'corsOrigin'> {
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
    const { isNamedByBody } = format;
    const page = view.find(question.wanted as Wanted, asked, served, budget, format);
    if (page instanceof Uint8Array) {
      const named = headsOf(question, state, hashBytes(page));
      if (isKnown?.(named)) return undefined;
      const body = memory.take(page.length);
      body.set(page);
      return { heads: named, body, work: undefined, state };
    }
    const { records } = page;
    // before there is memory for them
    if (records.size > settings.maxPageBytes && records.count > 1) {
      throw pageTooLarge(records, settings.maxPageBytes);
    }
    let early: readonly AnswerHead[] | undefined;
    if (format.isPart) early = [];
    else if (!isNamedByBody) early = headsOf(question, state, hashPage(page));
    if (early !== undefined && isKnown?.(early)) return undefined;
    // a page shows the headers that programs get
    const headers = isNamedByBody ? heads.ofJson : {};
    const exchange = { target, snapshot: state.snapshot, headers, memory, budget };
    const body = format.encode!(page, exchange);
    const named = early ?? headsOf(question, state, hashBytes(body));
    if (early === undefined && isKnown?.(named)) return undefined;
    return { heads: named, body, work: page.work, state };
  };
}

/** The error of a page whose records have more bytes than `limit`. */
export function pageTooLarge(records: PageRecords, limit: number): HttpError {
  const { count, size } = records;
  // with a comma between each two
  const fitting = Math.floor((limit + 1) / (records.longest() + 1));
  const whole = `The ${count} records of this page have ${size} bytes with all their fields`;
  const wanted = `Expected a smaller page_size: any ${fitting} of these records fit.`;
  const text = `${whole}, and a page may have ${limit}. ${wanted} Example: page_size=${fitting}`;
  return new HttpError(400, { page_size: [text] });
}
