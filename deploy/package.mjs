// Runs around `npm pack`, with `prepare` and then `restore`: the package gets a README that makes sense where it is
// installed, without the checkout around it.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const README = 'README.md';
const KEPT_README = 'dist/README.repository.md';

if (process.argv[2] === 'prepare') prepare();
else restore();

function prepare() {
  if (!existsSync('dist/src/main.js'))
    throw new Error('There is no build: run `make build` first.');
  // after a pack that did not end
  restore();
  copyFileSync(README, KEPT_README);
  const text = readFileSync('docs/package.md', 'utf8');
  writeFileSync(README, text.replaceAll(/\]\((?!https?:|#)/g, '](docs/'));
}

function restore() {
  if (existsSync(KEPT_README)) renameSync(KEPT_README, README);
}
