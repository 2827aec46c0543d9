import type { QueryWork } from '../formats/format.js';
import { type Html, html } from './html.js';

/** Characters of a time of less than three hours. */
const WIDTH = 13;

/** How an answer was found and how long that took, in milliseconds, for whoever likes to know. */
export function smallPrint(elapsed: number, work: QueryWork | undefined): Html {
  // of one width, so that answers to GET and HEAD have the same length
  const micros = Math.round(elapsed * 1000)
    .toLocaleString('en')
    .padStart(WIDTH);
  if (work === undefined) return html`<p>Found in ${micros} µs.</p>`;
  const { rows, way } = work;
  return html`<p>Found in ${micros} µs: ${rows.toLocaleString('en')} rows touched, ${way}.</p>`;
}
