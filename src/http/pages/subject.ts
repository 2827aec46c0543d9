import { ROOT_PATH } from '../request/addresses.js';
import type { Parameter } from '../request/parameter.js';
import type { Html } from './html.js';
import type { Site } from './site.js';
import type { KeyLink } from './writer.js';

/** An address and how it is called. */
export interface Crumb {
  readonly label: string;
  /** Without the prefix of the site. */
  readonly path: string;
}

export const HOME: Crumb = { label: 'Waypost', path: ROOT_PATH };

/** A query that shows what an address can do. */
export interface Example {
  readonly label: string;
  readonly query: string;
}

/** A column of the table of records. */
export interface Column {
  readonly label: string;
  /** Keys of a record of which it shows something. */
  readonly keys: readonly string[];
  readonly cell: (record: Readonly<Record<string, unknown>>, site: Site) => Html;
}

/** What the pages of one address are about. */
export interface Subject {
  readonly name: string;
  readonly description: string;
  /** The way to the page, without the page itself. */
  readonly crumbs: readonly Crumb[];
  /** What may be asked for, a field of the form each; none where there is no form. */
  readonly parameters: readonly Parameter[];
  readonly examples: readonly Example[];
  /** The columns of its records; none where there is no table. */
  readonly columns: readonly Column[];
  readonly links: readonly KeyLink[];
  /**
   * Path of the tiles of all matches, behind which their filters stand; undefined without a map.
   */
  readonly tiles: string | undefined;
  /** Path that the form for a new record posts to; undefined where there is none. */
  readonly posts: string | undefined;
  /** What OPTIONS says. */
  readonly options: object | undefined;
}

/** A subject that says the least: no form, no table, no links. */
export function plainSubject(name: string, description: string): Subject {
  return {
    name,
    description,
    crumbs: [],
    parameters: [],
    examples: [],
    columns: [],
    links: [],
    tiles: undefined,
    posts: undefined,
    options: undefined,
  };
}
