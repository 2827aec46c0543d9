import { type Offered, withQuery } from '../formats/representation.js';
import type { Parameter } from '../request/parameter.js';
import { joinList, last, type Pair, splitList } from '../request/query-string.js';
import { type Html, html } from './html.js';
import type { Subject } from './site.js';

export type Problems = Readonly<Record<string, readonly string[]>>;

/** No fields of the form: the list begins again with its first page, and the format stays. */
const KEPT: ReadonlySet<string> = new Set(['page', 'format']);
/** Parameters that may be given several times; of the others the last counts. */
const ADDED_UP: ReadonlySet<string> = new Set(['status', 'tags', 'tags_all', 'created_by']);
const EXAMPLES: readonly { readonly label: string; readonly query: string }[] = [
  { label: 'newest first', query: 'ordering=-created_at' },
  { label: 'within 1 km of a place, nearest first', query: 'coordinates=60.166,24.951,1000' },
  { label: 'in a box', query: 'bbox=24.94,60.16,24.96,60.18' },
  { label: 'with an image', query: 'has_image=true' },
  {
    label: 'of one month',
    query: 'created_at_after=2023-05-01T00%3A00%3A00Z&created_at_before=2023-06-01T00%3A00%3A00Z',
  },
];

/** The filters that are set, each with a link without it, and the form that adds others. */
export function filters(
  path: string,
  { parameters, isPoints }: Pick<Subject, 'parameters' | 'isPoints'>,
  pairs: readonly Pair[],
  problems: Problems,
  offered: Offered,
): Html {
  const known = parameters.filter(({ name }) => !KEPT.has(name));
  const names = new Set(known.map(({ name }) => name));
  const others = pairs.filter(({ name }) => !names.has(name) && name !== 'page');
  const set = known.flatMap((one) => chips(path, one, pairs));
  const hasProblem = Object.keys(problems).some((name) => names.has(name));
  const lists = Object.entries(offered).map(([name, values]) => {
    const choices = values.map((one) => html`<option>${joinList([one])}</option>`);
    return html`<datalist id="v-${name}">${choices}</datalist>\n`;
  });
  const fields = known.map((one) =>
    parameterField(path, one, shownValue(pairs, one.name), problems[one.name] ?? [], offered),
  );
  return html`<section class="filters" aria-label="Filters">
${set.length > 0 && html`<ul class="chips">${set}</ul>`}
<details${hasProblem && html` open`}><summary class="button">Add a filter</summary>
<form id="filters" method="get" action="${path}" autocomplete="off">
${others.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="fields">
${fields}
</div>
<p class="buttons"><button type="submit">Apply</button>
<a class="button" href="${path}">Clear all</a></p>
</form>
${lists}</details>
${
  set.length === 0 &&
  isPoints &&
  html`<p class="examples">For example: ${EXAMPLES.map(
    ({ label, query }, i) => html`${i > 0 && ' · '}<a href="${path}?${query}">${label}</a>`,
  )}</p>`
}
</section>
`;
}

function chips(path: string, { name, label = name }: Parameter, pairs: readonly Pair[]): Html[] {
  const shown = shownValue(pairs, name);
  if (shown === '') return [];
  const values = ADDED_UP.has(name) ? splitList(shown) : [shown];
  // without this value the list begins again with its first page
  const others = pairs.filter((pair) => pair.name !== name && pair.name !== 'page');
  return values.map((value, at) => {
    const left = joinList(values.filter((_, i) => i !== at));
    const href = withQuery(path, left === '' ? others : [...others, { name, value: left }]);
    const removal = html`<a href="${href}" aria-label="Remove ${label} ${value}">×</a>`;
    return html`<li><span>${label}</span> <bdi>${value}</bdi> ${removal}</li>\n`;
  });
}

/** All values of a parameter that adds up, else the last. */
function shownValue(pairs: readonly Pair[], name: string): string {
  if (!ADDED_UP.has(name)) return last(pairs, name) ?? '';
  const given = pairs.filter((pair) => pair.name === name && pair.value !== '');
  return given.length === 1
    ? given[0]!.value
    : joinList(given.flatMap(({ value }) => splitList(value)));
}

function parameterField(
  path: string,
  { name, label = name, accepts, example, schema }: Parameter,
  value: string,
  problems: readonly string[],
  offered: Offered,
): Html {
  const choices = choicesOf(schema);
  const isTime = schema['format'] === 'date-time';
  const list = name === 'tags_all' ? 'tags' : name;
  const isOffered = offered[list] !== undefined;
  const offer = isOffered && html` list="v-${list}"`;
  const control = (described: Html): Html =>
    choices === undefined
      ? html`<input id="f-${name}" name="${name}" value="${value}" placeholder="${example}"
spellcheck="false"${isTime && html` data-time`}${offer}${described}>`
      : html`<select id="f-${name}" name="${name}"${described}>${options(choices, value)}</select>`;
  const query = `${name}=${encodeURIComponent(example)}`;
  const link = html`<a href="${path}?${query}">Example</a>`;
  // a problem's text has the rule, too
  const rule = problems.length > 0 ? link : html`<code>${name}</code>: ${accepts}. ${link}`;
  const help = html`<details class="help"><summary aria-label="Help for ${label}">?</summary>
<p class="hint" id="f-${name}-help">${rule}</p></details>`;
  return field(`f-${name}`, label, control, undefined, problems, help);
}

export function field(
  id: string,
  label: string,
  control: (described: Html) => Html,
  hint: string | undefined,
  problems: readonly string[],
  help?: Html,
): Html {
  const isWrong = problems.length > 0;
  const told = problems.map((one) => html`<li><bdi>${one}</bdi></li>`);
  const ids = [isWrong && `${id}-error`, hint !== undefined && `${id}-hint`].filter(Boolean);
  const describedBy = ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`;
  const described = html`${describedBy}${isWrong && html` aria-invalid="true"`}`;
  return html`<div class="field${isWrong && ' wrong'}">
<label for="${id}">${label}</label>${help}
${control(described)}
${isWrong && html`<ul class="error" id="${id}-error">${told}</ul>`}
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
  const { type, enum: choices } = schema;
  if (type === 'boolean') return ['true', 'false'];
  return Array.isArray(choices) ? choices.map(String) : undefined;
}
