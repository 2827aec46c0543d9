import type { ListFacts } from '../formats/format.js';
import { pageLinker } from '../formats/links.js';
import type { Pair } from '../request/query-string.js';
import { type Html, html, NOTHING } from './html.js';

/** Pages that are linked on each side of the one that is shown. */
const NEIGHBOURS = 2;

/**
 * Links to the neighbours of a page, to some pages by their number, to the first and to the last.
 */
export function paging(path: string, pairs: readonly Pair[], list: ListFacts, label: string): Html {
  const { page, pageCount, links } = list;
  if (pageCount <= 1) return NOTHING;
  const link = pageLinker(path, pairs);
  const numbers = numbersOf(page, pageCount).map((number, i, all) => {
    const gap = i > 0 && number > all[i - 1]! + 1 && html`<li aria-hidden="true">…</li>`;
    if (number === page) {
      return html`${gap}<li><a aria-current="page" href="${link(number)}">${number}</a></li>`;
    }
    return html`${gap}<li><a href="${link(number)}" aria-label="Page ${number}">${number}</a></li>`;
  });
  return html`<nav class="paging" aria-label="${label}"><ul>
<li>${step('prev', '← Previous', links.previous)}</li>
${numbers}
<li>${step('next', 'Next →', links.next)}</li>
</ul></nav>
`;
}

function step(rel: string, label: string, href: string | null): Html {
  if (href === null) return html`<span class="off">${label}</span>`;
  return html`<a rel="${rel}" href="${href}">${label}</a>`;
}

function numbersOf(page: number, pageCount: number): number[] {
  const numbers = new Set([1, pageCount]);
  for (let number = page - NEIGHBOURS; number <= page + NEIGHBOURS; number++) {
    if (number >= 1 && number <= pageCount) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}
