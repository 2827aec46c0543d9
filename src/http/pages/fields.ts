import { joinList, splitList } from '../request/comma-list.js';
import type { Parameter } from '../request/parameter.js';
import { last, type Pair } from '../request/query-string.js';
import { type Html, html } from './html.js';

/** What is wrong, by the name of a field. */
export type Problems = Readonly<Record<string, readonly string[]>>;

/** Not of the form: the page begins again with the first, and the format stays. */
const KEPT: ReadonlySet<string> = new Set(['page', 'format']);
/** Parameters that may be given several times; of the others the last counts. */
const ADDED_UP: ReadonlySet<string> = new Set(['status', 'tags', 'tags_all', 'created_by']);

/**
 * The form of an address's parameters. Each field has its rule and an example that can be followed,
 * and beside it what was wrong with its value. Parameters that the form does not have are kept.
 */
export function filterForm(
  path: string,
  parameters: readonly Parameter[],
  pairs: readonly Pair[],
  problems: Problems,
): Html {
  const shown = parameters.filter(({ name }) => !KEPT.has(name));
  const names = new Set(shown.map(({ name }) => name));
  const others = pairs.filter(({ name }) => !names.has(name) && name !== 'page');
  // links to other pages carry a page size, and on a phone the form would stand before the records
  const isOpen = pairs.some(
    ({ name, value }) => names.has(name) && name !== 'page_size' && value !== '',
  );
  const hasProblem = Object.keys(problems).some((name) => names.has(name));
  return html`<details class="box"${isOpen || hasProblem ? html` open` : ''}>
<summary>Filters and order</summary>
<form id="filters" method="get" action="${path}">
${others.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="fields">
${shown.map((one) => parameterField(path, one, shownValue(pairs, one), problems[one.name] ?? []))}
</div>
<p class="buttons"><button type="submit">Apply</button> <a class="button" href="${path}">Clear</a></p>
</form>
</details>
`;
}

/** What a field shows: of a parameter that may be repeated all that is given. */
function shownValue(pairs: readonly Pair[], { name }: Parameter): string {
  if (!ADDED_UP.has(name)) return last(pairs, name) ?? '';
  const given = pairs.filter((pair) => pair.name === name && pair.value !== '');
  return given.length === 1
    ? given[0]!.value
    : joinList(given.flatMap(({ value }) => splitList(value)));
}

function parameterField(
  path: string,
  { name, accepts, example, schema }: Parameter,
  value: string,
  problems: readonly string[],
): Html {
  const choices = choicesOf(schema);
  const control =
    choices === undefined
      ? (described: Html) =>
          html`<input id="f-${name}" name="${name}" value="${value}" placeholder="${example}" autocomplete="off" spellcheck="false"${described}>`
      : (described: Html) =>
          html`<select id="f-${name}" name="${name}"${described}>${options(choices, value)}</select>`;
  const query = `${name}=${encodeURIComponent(example)}`;
  const link = html`<a href="${path}?${query}">Example</a>`;
  // what is wrong with a value says the rule, too
  const hint = problems.length > 0 ? link : html`${accepts}. ${link}`;
  return field(`f-${name}`, html`${name}`, control, hint, problems);
}

/** A control with its label, its rule, and what is wrong with its value. */
export function field(
  id: string,
  label: Html,
  control: (described: Html) => Html,
  hint: Html | undefined,
  problems: readonly string[],
): Html {
  const isWrong = problems.length > 0;
  const ids = [isWrong && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean);
  const describedBy = ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`;
  const described = html`${describedBy}${isWrong && html` aria-invalid="true"`}`;
  return html`<div class="field${isWrong && ' wrong'}">
<label for="${id}">${label}</label>
${control(described)}
${isWrong && html`<ul class="error" id="${id}-error">${problems.map((one) => html`<li><bdi>${one}</bdi></li>`)}</ul>`}
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
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
  if (schema === undefined) return undefined;
  const { type, enum: choices } = schema;
  if (type === 'boolean') return ['true', 'false'];
  return Array.isArray(choices) ? choices.map(String) : undefined;
}
