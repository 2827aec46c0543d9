// Runs around `npm pack`, with `prepare` and then `restore`: the package gets a README that makes sense where it is
// installed, and its documents link only to what is in it. What may fail comes before both.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const README = 'README.md';
const OWN_README = 'docs/package.md';
const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
const DOCUMENTS = [README, ...files.filter((name) => name.endsWith('.md'))];
/** The documents as they are in the repository. */
const KEPT = 'dist/documents';

if (process.argv[2] === 'prepare') prepare();
else restore();

function prepare() {
  // after a pack that did not end
  restore();
  for (const name of DOCUMENTS) {
    mkdirSync(dirname(join(KEPT, name)), { recursive: true });
    copyFileSync(name, join(KEPT, name));
  }
  const own = linked(readFileSync(OWN_README, 'utf8'), 'docs', '.');
  for (const name of DOCUMENTS) {
    const text = readFileSync(name, 'utf8');
    const folder = dirname(name);
    writeFileSync(name, name === README ? own : linked(text, folder, folder));
  }
}

/** A text with its links changed for another folder; links out of the package become plain text. */
function linked(text, from, to) {
  return text.replaceAll(
    /!?\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]+)?\)/g,
    (_, words, path, anchor = '') => {
      const named = normalize(join(from, path));
      const target = named === OWN_README ? README : named;
      if (!DOCUMENTS.includes(target)) return `${words} (in the repository)`;
      return `[${words}](${relative(to, target)}${anchor})`;
    },
  );
}

function restore() {
  if (!existsSync(KEPT)) return;
  cpSync(KEPT, '.', { recursive: true });
  rmSync(KEPT, { recursive: true });
}
