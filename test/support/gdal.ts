import { spawnSync } from 'node:child_process';
import { run } from './wait.js';

/** Why tests of GDAL are skipped; undefined where it is installed. */
export function withoutGdal(): string | undefined {
  const { status } = spawnSync('ogr2ogr', ['--version'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'GDAL is not installed (Debian: gdal-bin)';
}

export interface GdalFeature {
  readonly id?: number;
  readonly geometry: { readonly coordinates: readonly [number, number] };
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The features of a layer that GDAL reads from `source`, in degrees. */
export async function readByGdal(
  source: string,
  layer: string,
  options: readonly string[] = [],
): Promise<readonly GdalFeature[]> {
  const precision = ['-lco', 'COORDINATE_PRECISION=8', '-t_srs', 'EPSG:4326'];
  const args = ['-f', 'GeoJSON', '/vsistdout/', ...precision, ...options, source, layer];
  const { stdout } = await run('ogr2ogr', args, { maxBuffer: 64 * 1024 * 1024 });
  return (JSON.parse(stdout) as { features: GdalFeature[] }).features;
}
