import { queryString } from '../formats/representation.js';
import type { Parameter } from '../request/parameter.js';
import { joinList, last, type Pair, splitList } from '../request/query-string.js';
import { type Html, html } from './html.js';

export type Problems = Readonly<Record<string, readonly string[]>>;

/** Not of the form: the page begins again with the first, and the format stays. */
const KEPT: ReadonlySet<string> = new Set(['page', 'format']);
/** Parameters that may be given several times; of the others the last counts. */
const ADDED_UP: ReadonlySet<string> = new Set(['status', 'tags', 'tags_all', 'created_by']);

/**
 * The filters that are set, each with a link that leaves it out, and the form that adds others. The
 * form has all parameters of the address; those that it does not know are kept.
 */
export function filters(
  path: string,
  parameters: readonly Parameter[],
  pairs: readonly Pair[],
  problems: Problems,
): Html {
  const known = parameters.filter(({ name }) => !KEPT.has(name));
  const names = new Set(known.map(({ name }) => name));
  const others = pairs.filter(({ name }) => !names.has(name) && name !== 'page');
  const set = known.flatMap((one) => chips(path, one.name, pairs));
  const hasProblem = Object.keys(problems).some((name) => names.has(name));
  return html`<section class="filters" aria-label="Filters">
${set.length > 0 && html`<ul class="chips">${set}</ul>`}
<details${hasProblem && html` open`}><summary class="button">Add a filter</summary>
<form id="filters" method="get" action="${path}">
${others.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="fields">
${known.map((one) => field(one, shownValue(pairs, one.name), problems[one.name] ?? []))}
</div>
<p class="buttons"><button type="submit">Apply</button> <a class="button" href="${path}">Clear all</a></p>
</form>
</details>
</section>
`;
}

function chips(path: string, name: string, pairs: readonly Pair[]): Html[] {
  const shown = shownValue(pairs, name);
  if (shown === '') return [];
  const values = ADDED_UP.has(name) ? splitList(shown) : [shown];
  // without this value the list begins again with its first page
  const others = pairs.filter((pair) => pair.name !== name && pair.name !== 'page');
  return values.map((value, at) => {
    const left = joinList(values.filter((_, i) => i !== at));
    const query = queryString(left === '' ? others : [...others, { name, value: left }]);
    const href = query === '' ? path : `${path}?${query}`;
    const removal = html`<a href="${href}" aria-label="Remove ${name} ${value}">×</a>`;
    return html`<li><span>${name}</span> <bdi>${value}</bdi> ${removal}</li>\n`;
  });
}

/** What a field shows: of a parameter that may be repeated all that is given. */
function shownValue(pairs: readonly Pair[], name: string): string {
  if (!ADDED_UP.has(name)) return last(pairs, name) ?? '';
  const given = pairs.filter((pair) => pair.name === name && pair.value !== '');
  return given.length === 1
    ? given[0]!.value
    : joinList(given.flatMap(({ value }) => splitList(value)));
}

/** A control with its label, and its rule or what is wrong with its value. */
function field(
  { name, accepts, example, schema }: Parameter,
  value: string,
  problems: readonly string[],
): Html {
  const choices = choicesOf(schema);
  const isWrong = problems.length > 0;
  const about = html`id="f-${name}" name="${name}" aria-describedby="f-${name}-about"${isWrong && html` aria-invalid="true"`}`;
  const control =
    choices === undefined
      ? html`<input ${about} value="${value}" placeholder="${example}" autocomplete="off" spellcheck="false">`
      : html`<select ${about}>${options(choices, value)}</select>`;
  return html`<div class="field${isWrong && ' wrong'}">
<label for="f-${name}">${name}</label>
${control}
${
  isWrong
    ? html`<ul class="error" id="f-${name}-about">${problems.map((one) => html`<li><bdi>${one}</bdi></li>`)}</ul>`
    : html`<p class="hint" id="f-${name}-about">${accepts}</p>`
}
</div>
`;
}

function options(choices: readonly string[], value: string): Html {
  // a value that is none of them is shown, too: it may be what is wrong
  const all = value === '' || choices.includes(value) ? choices : [value, ...choices];
  return html`<option value="">any</option>${all.map(
    (one) => html`<option${one === value && html` selected`}>${one}</option>`,
  )}`;
}

function choicesOf(schema: Parameter['schema']): readonly string[] | undefined {
  if (schema?.['type'] === 'boolean') return ['true', 'false'];
  const choices = schema?.['enum'];
  return Array.isArray(choices) ? choices.map(String) : undefined;
}
