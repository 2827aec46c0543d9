import type { QueryWork } from '../formats/format.js';
import { type Html, html } from './html.js';

/**
 * How an answer was found, for whoever likes to know. How long that took is another time each time,
 * which would give the same page other bytes: the script of the page reads it out of Server-Timing.
 */
export function smallPrint(work: QueryWork | undefined): Html {
  const found =
    work === undefined
      ? ''
      : `${work.looks.toLocaleString('en')} rows touched; matches: ${work.form}, page: ${work.way}.`;
  return html`<p>${found} <span id="timing"></span></p>`;
}
