// Copies MapLibre into the build, so that the installed package need not depend on it: it is thirty
// times as large, with all that it depends on. A checkout takes it from node_modules.
import { copyFileSync, existsSync } from 'node:fs';

if (!existsSync('dist/src/main.js')) throw new Error('There is no build: run `make build` first.');
for (const name of ['maplibre-gl.mjs', 'maplibre-gl-worker.mjs']) {
  copyFileSync(`node_modules/maplibre-gl/dist/${name}`, `dist/src/browser/${name}`);
}
copyFileSync('node_modules/maplibre-gl/LICENSE.txt', 'dist/src/browser/maplibre-gl.LICENSE.txt');
