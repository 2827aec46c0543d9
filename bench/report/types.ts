import type { HttpResult } from '../generators/types.js';
import type { LoadResults } from '../load.js';
import type { PeerResults } from '../peers.js';
import type { PostResults } from '../post/table.js';
import type { QueryResults } from '../query.js';
import type { ReloadResults } from '../reload.js';
import type { ScaleResult } from '../scale.js';
import type { Machine } from '../support/machine.js';
import type { Part } from '../support/run.js';
import type { TileResults } from '../tiles/results.js';

/** The parts of a run of the suite; those that were not run are absent. */
export interface Parts {
  readonly http?: Part<readonly HttpResult[]>;
  readonly open?: Part<readonly HttpResult[]>;
  /** Reports from before 2026-11-22 have no search for slow queries. */
  readonly query?: Part<Pick<QueryResults, 'cases'> & Partial<QueryResults>>;
  readonly load?: Part<LoadResults>;
  readonly reload?: Part<ReloadResults>;
  /** Reports from before 2026-11-22 have none. */
  readonly post?: Part<PostResults>;
  readonly peers?: Part<PeerResults>;
  readonly scale?: Part<readonly ScaleResult[]>;
  readonly tiles?: Part<TileResults>;
}

/** The file that a run of the suite writes. */
export interface Report {
  readonly version: 1;
  readonly date: string;
  readonly machine: Machine;
  readonly command: string;
  readonly parts: Parts;
}
