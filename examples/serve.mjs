// Serves the example, MapLibre and the outlines of land to browsers of this machine, which import no scripts from
// files: `node examples/serve.mjs [port]`, once `npm ci` has run.
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const FILES = {
  '/map.html': ['./map.html', 'text/html; charset=utf-8'],
  '/land.json': ['../assets/land.json', 'application/json'],
};
for (const name of ['maplibre-gl.mjs', 'maplibre-gl-worker.mjs', 'maplibre-gl.css']) {
  const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
  FILES[`/${name}`] = [`../node_modules/maplibre-gl/dist/${name}`, type];
}

const server = createServer(({ url }, answer) => {
  const file = FILES[url.replace(/\?.*$/, '').replace(/^\/$/, '/map.html')];
  if (file === undefined) {
    answer.writeHead(404).end();
    return;
  }
  const [path, type] = file;
  const bytes = createReadStream(fileURLToPath(new URL(path, import.meta.url)));
  bytes.on('error', (error) => answer.writeHead(500).end(`${error.message}: run npm ci first\n`));
  bytes.on('open', () => bytes.pipe(answer.writeHead(200, { 'Content-Type': type })));
});
server.listen(Number(process.argv[2] ?? 8000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/map.html`);
});
