import { type ExportResults, exportTables } from '../export.js';
import type { HttpResult } from '../generators/types.js';
import { httpTables } from '../http.js';
import { type LoadResults, loadTables } from '../load.js';
import { type PeerResults, peersTables } from '../peers.js';
import { type PostResults, postTables } from '../post.js';
import { type QueryResult, queryTables } from '../query.js';
import { type ReloadResults, reloadTables } from '../reload.js';
import type { Part, Run } from '../support/run.js';
import { markdownSection, type Table } from '../support/table.js';
import { type TileResults, tileTables } from '../tiles.js';

/** The parts of a run of the suite; those that were not run are absent. */
export interface Parts {
  readonly peers?: Part<PeerResults>;
  readonly http?: Part<readonly HttpResult[]>;
  readonly open?: Part<readonly HttpResult[]>;
  readonly query?: Part<readonly QueryResult[]>;
  readonly load?: Part<LoadResults>;
  readonly reload?: Part<ReloadResults>;
  readonly post?: Part<PostResults>;
  readonly export?: Part<ExportResults>;
  readonly tiles?: Part<TileResults>;
  readonly scale?: Part<readonly HttpResult[]>;
}

/** The file that a run of the suite writes. */
export interface Report extends Run {
  readonly parts: Parts;
}

function describeReport({ date, version, machine, command }: Report): string {
  const { cpu, cores, memoryGiB, node, platform } = machine;
  return `Measured: Waypost ${version}, ${date.slice(0, 10)}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, ${platform}, \`${command}\`.`;
}

/** Every table of a report, in reading order. */
export function reportTables({ parts }: Report): Table[] {
  const { peers, http, open, query, load, reload, post, tiles, scale } = parts;
  const exported = parts.export;
  return [
    ...(peers ? peersTables(peers.results) : []),
    ...(http ? httpTables(http.results) : []),
    ...(open ? httpTables(open.results) : []),
    ...(query ? queryTables(query.results) : []),
    ...(load ? loadTables(load.results) : []),
    ...(reload ? reloadTables(reload.results) : []),
    ...(post ? postTables(post.results) : []),
    ...(exported ? exportTables(exported.results) : []),
    ...(tiles ? tileTables(tiles.results) : []),
    ...(scale ? httpTables(scale.results) : []),
  ];
}

/** Tables as Markdown, under the line that describes their report. */
export function reportText(report: Report, tables: readonly Table[]): string {
  return [describeReport(report), ...tables.map(markdownSection)].join('\n\n');
}
