import { exportEncoder } from '../../src/exports/encoders.js';
import { Export } from '../../src/exports/export-pieces.js';
import type { ExportQuery } from '../../src/http/request/list-parameters.js';
import { type Delta, deltaLength } from '../../src/index/delta.js';
import type { Engine } from '../../src/query/engine.js';

/** The pieces of an export of all points, or of what `query` says. */
export async function exportPieces(
  engine: Engine,
  format: string,
  {
    query = {},
    delta,
    length = delta === undefined ? 0 : deltaLength(delta),
    bytes = 2 ** 20,
    isGzipped = false,
  }: {
    readonly query?: Partial<ExportQuery>;
    readonly delta?: Delta;
    readonly length?: number;
    readonly bytes?: number;
    readonly isGzipped?: boolean;
  } = {},
): Promise<Buffer[]> {
  const all = { filters: {}, ordering: undefined, keys: undefined, ...query };
  const source = { engine, delta, length };
  const file = new Export(source, all, await exportEncoder(format), { isGzipped });
  const pieces: Buffer[] = [];
  for (let isLast = false; !isLast; ) {
    const piece = file.next(bytes);
    pieces.push(Buffer.from(piece.bytes));
    isLast = piece.isLast;
  }
  return pieces;
}

/** The lines of NDJSON. */
export function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes).toString().split('\n').slice(0, -1);
}
