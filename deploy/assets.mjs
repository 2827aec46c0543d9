// Copies what pages need of packages beside the build, so that what is installed needs these packages no more: they
// are thirty times as large, with all that they depend on. A checkout does without: its pages take it from
// node_modules.
import { copyFileSync } from 'node:fs';

for (const name of ['maplibre-gl.mjs', 'maplibre-gl-worker.mjs']) {
  copyFileSync(`node_modules/maplibre-gl/dist/${name}`, `dist/src/browser/${name}`);
}
copyFileSync('node_modules/maplibre-gl/LICENSE.txt', 'dist/src/browser/maplibre-gl.LICENSE.txt');
