import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { code, read, rows, section, sourceFiles } from '../support/documents.js';
import { ROOT } from '../support/service.js';
import { assert, test } from '../support/uvu.js';

/** A folder of the source and one that it imports from, by way of one file. */
interface Import {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** Folders of the table, from the bottom up, and what each may import. */
const ALLOWED: ReadonlyMap<string, readonly string[]> = new Map(
  rows(section(read('docs/ARCHITECTURE.md'), 'The folders')).map(([folder, , imports = '']) => [
    code(folder),
    imports
      .split(/,\s*/)
      .filter((cell) => cell !== '')
      .map(code),
  ]),
);

const IMPORTS: readonly Import[] = sourceFiles().flatMap(({ path, text }) =>
  [...text.matchAll(/(?:from |import\(|import )'(\.[^']+)\.js'/g)]
    .map(([, target]) => join(dirname(path), `${target}.ts`))
    .map((target) => ({ path, from: folderOf(path), to: folderOf(target) }))
    .filter(({ from, to }) => from !== to),
);

/** `http/routes` of `src/http/routes/root.ts`, `main` of `src/main.ts`. */
function folderOf(path: string): string {
  const parts = path.split('/');
  return parts.length === 2 ? parts[1]!.replace('.ts', '') : parts.slice(1, -1).join('/');
}

test('ARCHITECTURE.md has every folder of the source, and what it imports', () => {
  const sources = new Set(sourceFiles().map(({ path }) => folderOf(path)));
  const found = [...sources].map((folder) => {
    const targets = IMPORTS.filter(({ from }) => from === folder).map(({ to }) => to);
    return [folder, [...new Set(targets)].sort()];
  });
  const listed = [...ALLOWED].map(([folder, targets]) => [folder, targets.toSorted()]);
  // what has a minus is in the source alone, what has a plus in the table
  assert.equal(Object.fromEntries(found), Object.fromEntries(listed));
});

test('a folder imports only from earlier rows of the table, so that there is no circle', () => {
  const order = [...ALLOWED.keys()];
  for (const { path, from, to } of IMPORTS) {
    const isEarlier = order.indexOf(to) < order.indexOf(from);
    assert.ok(isEarlier, `${path} imports from ${to}, whose row comes after that of ${from}`);
  }
});

test('the files and folders that ARCHITECTURE.md names exist', () => {
  const text = read('docs/ARCHITECTURE.md');
  const named = [
    ...text.matchAll(/`([a-z-]+(?:\/[a-z-]+)+)`|[│▼] ((?:reload|http|query|index)\/[a-z/-]+)/g),
  ];
  assert.ok(named.length > 0);
  for (const [, quoted, drawn] of named) {
    const path = quoted ?? drawn!;
    const places = [`src/${path}.ts`, `src/${path}`, `${path}.ts`, path];
    const isThere = places.some((place) => existsSync(join(ROOT, place)));
    assert.ok(isThere, `there is no ${path}`);
  }
});

test.run();
