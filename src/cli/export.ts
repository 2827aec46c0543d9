import { basename, extname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { exportEncoder } from '../exports/encoders.js';
import { Export } from '../exports/export-pieces.js';
import { openSnapshot } from '../formats/files/open.js';
import type { LoadReport, SnapshotReader } from '../formats/snapshot.js';
import { EXPORT_FORMATS } from '../http/request/addresses.js';
import { HttpError } from '../http/request/http-error.js';
import {
  EXPORT_PARAMETERS,
  type ExportQuery,
  parseExportQuery,
} from '../http/request/list-parameters.js';
import { parseQueryString } from '../http/request/query-string.js';
import { buildDataset } from '../index/build-dataset.js';
import { assembleDataset } from '../index/dataset.js';
import { InputError, quote } from '../model/quote.js';
import { openTimeZone, type TimeZone } from '../model/time-zone.js';
import { Engine } from '../query/engine.js';
import { counted, countPoints, megabytes, startProgress } from '../serving/progress.js';
import { nameOf, type RunOptions, STANDARD, tell, withInput, writeOutput } from './arguments.js';
import type { JournaledPoints } from './journal-posts.js';
import { postsBeside, refuseSameFile, reportLines } from './pack.js';

const PIECE_BYTES = 1024 * 1024;

export interface ExportOptions extends RunOptions {
  /** The query string of an export's address; all points where absent. */
  readonly filter?: string;
  /** Name of a format; by default the ending of the output's name, and NDJSON for `-`. */
  readonly format?: string;
  /** Journal whose posts belong to the snapshot: a file, or the address of a service. */
  readonly journal?: string;
}

/**
 * Writes the matching points of any snapshot as a file of an export format, whole or not at all.
 * All points are held in memory. Throws an InputError where filters or input cannot be used,
 * or the output cannot be written.
 */
export async function exportSnapshot(
  input: string,
  output: string,
  options: ExportOptions = {},
): Promise<void> {
  const format = formatOf(output, options.format);
  const query = queryOf(options.filter ?? '', await openTimeZone(options.timeZone));
  refuseSameFile([input, options.journal], output);
  return withInput(input, output, options, async (path, name) => {
    const started = performance.now();
    const [file, report, further] = await load(path, query, format, options);
    let bytes = 0;
    const bar = startProgress('Exporting', options, countPoints);
    try {
      await writeOutput(output, options, async ({ put }) => {
        for (let isLast = false; !isLast; ) {
          const piece = file.next(PIECE_BYTES);
          await put(piece.bytes);
          bytes += piece.bytes.length;
          // signals and the bar have their turn
          await setImmediate();
          bar.update(file.count - file.left, file.count);
          isLast = piece.isLast;
        }
      });
    } finally {
      bar.stop();
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const lines = [
      `exported ${basename(name)} (${report.format}) as ${format} to ${nameOf(output)}`,
      `${counted(file.count, 'point')}, ${megabytes(bytes)} in ${seconds} s`,
      ...reportLines(report),
      ...(further?.summary ?? []),
    ];
    tell(lines, output, options);
  });
}

function formatOf(output: string, named: string | undefined): string {
  const ending = output === STANDARD ? 'ndjson' : extname(output).slice(1);
  const wanted = named ?? ending;
  if (EXPORT_FORMATS.some(({ name }) => name === wanted)) return wanted;
  const names = EXPORT_FORMATS.map(({ name }) => name).join(', ');
  const got = named === undefined ? `${output} ends with ${quote(ending)}` : `got ${quote(named)}`;
  throw new InputError(`--format: expected one of ${names}; ${got}`);
}

/** Reads filters as the service does, but refuses parameters that an export does not have. */
function queryOf(filter: string, zone: TimeZone): ExportQuery {
  const pairs = parseQueryString(Buffer.from(filter).toString('latin1'));
  const unknown = pairs.find(({ name }) => EXPORT_PARAMETERS.every((one) => one.name !== name));
  if (unknown !== undefined) {
    const names = EXPORT_PARAMETERS.map(({ name }) => name).join(', ');
    throw new InputError(`--filter: there is no ${quote(unknown.name)}; expected ${names}`);
  }
  try {
    return parseExportQuery(pairs, zone);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const problems = Object.entries(error.body).map(([name, texts]) => `${name}: ${texts}`);
    throw new InputError(`--filter: ${problems.join('; ')}`);
  }
}

async function load(
  path: string,
  query: ExportQuery,
  format: string,
  options: ExportOptions,
): Promise<[Export, LoadReport, JournaledPoints | undefined]> {
  const bar = startProgress('Loading', options);
  const reader = await openSnapshot(path, { ...options, onProgress: bar.update });
  try {
    const further = await postsBeside(options.journal);
    // without posts a native file is read straight to its place
    const source: SnapshotReader =
      further === undefined
        ? reader
        : {
            format: 'ndjson',
            blocks: () => further.blocksBehind(reader),
            report: () => reader.report(),
            close: () => {},
          };
    const parts = await buildDataset(source, { inParallel: true });
    const engine = new Engine(assembleDataset(parts));
    const all = { engine, delta: undefined, length: 0 };
    const file = new Export(all, query, await exportEncoder(format));
    return [file, parts.report, further];
  } finally {
    bar.stop();
    reader.close();
  }
}
