import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countOf, type Envelope, LIST } from '../support/client.js';
import { codeIn, read, SHOWN, section } from '../support/documents.js';
import { withoutGdal } from '../support/gdal.js';
import { startOwnService } from '../support/own-service.js';
import { ROOT } from '../support/service.js';
import { assert, makeFolder, test, testUnless } from '../support/uvu.js';
import { run } from '../support/wait.js';

const PAGE = read('docs/clients.md');

const home = makeFolder();
symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
writeFileSync(join(home, 'package.json'), '{"type":"module"}');
const service = await startOwnService(['--snapshot', join(ROOT, 'data/sample.waypost')]);
const site = `http://127.0.0.1:${service.port}`;

/** The code of one language in a section, changed to ask the service of this test. */
function snippets(title: string, language: string): string[] {
  return codeIn('docs/clients.md', title, language, site);
}

/** What the code of a section prints, as the page shows it. */
function printed(title: string): string[] {
  return codeIn('docs/clients.md', title, 'text', SHOWN);
}

async function outputOf(command: string, file: string, text: string): Promise<string> {
  writeFileSync(join(home, file), text);
  const env = { ...process.env, QT_QPA_PLATFORM: 'offscreen' };
  const { stdout } = await run(command, [file], { cwd: home, env });
  return stdout;
}

function whyNot(command: string, ...args: string[]): string | undefined {
  const { status } = spawnSync(command, args, { stdio: 'ignore' });
  return status === 0 ? undefined : `${[command, ...args].join(' ')} does not run here`;
}

const NO_CURL = whyNot('curl', '--version');
const NO_PYTHON = whyNot('python3', '--version');

const trimmed = (text: string): string => text.trim();

testUnless(NO_CURL, 'the commands for curl print what the page shows', async () => {
  const outputs: string[] = [];
  for (const command of snippets('curl', 'sh')) {
    const { stdout } = await run('sh', ['-c', command], { cwd: home });
    outputs.push(stdout.replaceAll(site, SHOWN));
  }
  assert.equal(outputs.map(trimmed), printed('curl').map(trimmed));
});

testUnless(withoutGdal(), 'GDAL takes an export as the page shows', async () => {
  const [commands] = snippets('Files', 'sh');
  const { stdout } = await run('sh', ['-ec', commands!], { cwd: home });
  assert.is(stdout.replaceAll('\n\n', '\n').trim(), printed('Files')[0]!.trim());
});

/** A Python that has what the table of files uses; `pip install` gets it. */
const READERS = ['-c', 'import duckdb, geopandas, msgpack, pandas, pyarrow'] as const;

/** Fewer points than the sample has: R takes seconds to read those. */
const SOME = 'bbox=24.94,60.16,24.96,60.18';

/** The calls of a column in the table of files, which are exported; and how many points they have. */
async function readingFiles(column: 2 | 3): Promise<{ calls: string[]; count: number }> {
  const count = await countOf(service, SOME);
  assert.ok(count > 0);
  const rows = [...section(PAGE, 'Files').matchAll(/^\| `(\w+)` +\| (.*?) \| (.*?) \|/gm)];
  assert.is(rows.length, 6);
  for (const [, format] of rows) {
    const { body } = await service.get(`/export/points.${format}?${SOME}`);
    writeFileSync(join(home, `points.${format}`), body);
  }
  const calls = rows.flatMap((row) => [...row[column]!.matchAll(/`(.*?)`/g)]);
  return { calls: calls.map(([, call]) => call!), count };
}

testUnless(whyNot('python3', ...READERS), 'Python reads each file as the page shows', async () => {
  const { calls, count } = await readingFiles(2);
  const shown = calls.map((call) => `print(len(${call}))\n`).join('');
  const code = `import duckdb, geopandas, msgpack, pandas\n${shown}`;
  assert.is(await outputOf('python3', 'files.python', code), `${count}\n`.repeat(10));
});

/** An R that has what Debian packages of what the table uses. */
const R_PACKAGES = "stopifnot(c('jsonlite', 'sf') %in% rownames(installed.packages()))";

testUnless(whyNot('Rscript', '-e', R_PACKAGES), 'R reads files as the page shows', async () => {
  const { calls, count } = await readingFiles(3);
  const tried = calls.filter((call) => /^(?:read\.csv|jsonlite|sf)/.test(call));
  assert.is(tried.length, 4);
  const code = tried.map((call) => `cat('\\nrows', nrow(${call}), '\\n')\n`).join('');
  const rows = (await outputOf('Rscript', 'files.R', code)).match(/^rows \d+/gm);
  assert.equal(rows, Array(4).fill(`rows ${count}`));
});

const FOLLOWING = 'Everything, then what comes';

const COMMANDS = { js: [process.execPath, undefined], python: ['python3', NO_PYTHON] } as const;

for (const [title, language] of [
  ['JavaScript', 'js'],
  ['Python', 'python'],
  [FOLLOWING, 'python'],
] as const) {
  const [command, reason] = COMMANDS[language];
  testUnless(reason, `the code in ${title} prints what the page shows`, async () => {
    const [code] = snippets(title, language);
    assert.equal([await outputOf(command, `notes.${language}`, code!)], printed(title));
  });
}

testUnless(NO_PYTHON, 'what is posted after an export comes behind it, once', async () => {
  const [code] = snippets(FOLLOWING, 'python');
  const post = `urllib.request.urlopen('${site}${LIST}', b'lat=61.5&lon=23.76')`;
  const posting = code!.replace(/^# from here on.*/m, post);
  assert.is.not(posting, code);
  assert.is(await outputOf('python3', 'following.python', posting), '1 came since\n');
});

/** Puts another snapshot in place, once, before the second of some requests. */
const SWAPS = {
  js: `import { renameSync } from 'node:fs';
const real = globalThis.fetch;
let asked = 0;
globalThis.fetch = async (...asking) => {
  if (++asked === 2) {
    renameSync('next.ndjson', 'points.ndjson');
    const headers = { Authorization: 'Bearer secret' };
    await real('SITE/admin/reload?wait', { method: 'POST', headers });
  }
  return real(...asking);
};
`,
  python: `import os, urllib.request
real, asked = urllib.request.urlopen, 0
def swapping(*asking):
    global asked
    asked += 1
    if asked == 2:
        os.rename('next.ndjson', 'points.ndjson')
        headers = {'Authorization': 'Bearer secret'}
        real(urllib.request.Request('SITE/admin/reload?wait', method='POST', headers=headers))
    return real(*asking)
urllib.request.urlopen = swapping
`,
} as const;

const known = await service.get(`${LIST}?page_size=1000`);
const lines = known.json<Envelope>().results.map((one) => JSON.stringify(one));
const served = join(home, 'points.ndjson');
writeFileSync(served, lines.join('\n'));
const swapped = await startOwnService([
  ...['--snapshot', served, '--admin-token', 'secret', '--settle', '10ms', '--max-shrink', '100'],
]);

for (const [language, title] of [
  ['js', 'JavaScript'],
  ['python', 'Python'],
] as const) {
  const [command, reason] = COMMANDS[language];
  testUnless(reason, `the code in ${title} begins again where the data changes`, async () => {
    writeFileSync(served, lines.join('\n'));
    writeFileSync(join(home, 'next.ndjson'), lines.slice(100, 130).join('\n'));
    const headers = { Authorization: 'Bearer secret' };
    const reloaded = await swapped.get('/admin/reload?wait', { method: 'POST', headers });
    assert.is(reloaded.json<{ points: number }>().points, 1_000);
    const own = `http://127.0.0.1:${swapped.port}`;
    const [code] = snippets(title, language);
    const query = code!
      .replace(/bbox: '.*?', status: 'OPEN'/, 'page_size: 20')
      .replace(/coordinates=.*page_size=10/, 'page_size=20');
    assert.is.not(query, code);
    const text = SWAPS[language].replace('SITE', own) + query.replaceAll(site, own);
    const printed = await outputOf(command, `swapped.${language}`, text);
    assert.match(printed, /\b30 notes/);
    assert.match(printed, /\b101\b/, 'the first note is that of the second snapshot');
  });
}

test('the typed client is generated, compiles, and prints what the page shows', async () => {
  const [shell] = snippets('TypeScript', 'sh');
  const generate = /^npx (\S+) (.*)$/m.exec(shell!)!;
  const bin = join(ROOT, 'node_modules/.bin');
  await run(join(bin, generate[1]!), generate[2]!.split(' '), { cwd: home });
  const [code] = snippets('TypeScript', 'ts');
  writeFileSync(join(home, 'client.ts'), code!);
  // a value of another type must not compile
  const wrong = code!.replace('is_processed: false', "is_processed: 'no'");
  assert.is.not(wrong, code);
  writeFileSync(join(home, 'wrong.ts'), wrong);
  const flags = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  flags.push('--skipLibCheck');
  const files = ['client.ts', 'wrong.ts'];
  const compiled = spawnSync(join(bin, 'tsc'), [...flags, ...files], { cwd: home });
  const errors = String(compiled.stdout);
  assert.match(errors, /wrong\.ts.*'boolean/);
  assert.not.match(errors, /^(?!wrong)\S/m);
  const { stdout } = await run(process.execPath, ['client.js'], { cwd: home });
  assert.equal([stdout], printed('TypeScript'));
});

test('the packages that the page installs are the ones that are tested', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as {
    devDependencies: Record<string, string>;
  };
  const installed = [...PAGE.matchAll(/^npm install .*?([\w-]+)@([\d.]+)$/gm)];
  assert.is(installed.length, 2);
  for (const [, name, version] of installed) assert.is(devDependencies[name!], version, name);
});

test('the addresses for QGIS and MapLibre are answered as they expect', async () => {
  const [console] = snippets('QGIS', 'python');
  const [list] = /http[^']*geojson[^']*/.exec(console!)!;
  const [tile] = /http[^']*\.mvt/.exec(console!)!;
  const collection = await fetch(list);
  assert.is(collection.headers.get('content-type'), 'application/geo+json');
  const { features } = (await collection.json()) as { features: unknown[] };
  assert.match(printed('QGIS')[0]!, new RegExp(` ${features.length}$`, 'm'));
  const whole = await fetch(tile.replace('{z}/{x}/{y}', '0/0/0'));
  assert.equal([whole.status, whole.headers.get('content-type')], [200, MVT]);
  const [map] = codeIn('docs/maps.md', 'MapLibre', 'js', site);
  const [source] = /http[^']*points\.json[^']*/.exec(map!)!;
  const { vector_layers: known } = (await (await fetch(source)).json()) as {
    vector_layers: { id: string }[];
  };
  const layers = known.map(({ id }) => id);
  const used = [...map!.matchAll(/'source-layer': '(\w+)'/g)].map(([, name]) => name!);
  assert.is(used.length, 2);
  for (const name of used) assert.ok(layers.includes(name), name);
});

const MVT = 'application/vnd.mapbox-vector-tile';

/** A Python that has QGIS: the system's may stand behind another one in PATH. */
const QGIS_PYTHON = ['python3', '/usr/bin/python3'].find(
  (command) => whyNot(command, '-c', 'import qgis.core') === undefined,
);
const NO_QGIS =
  QGIS_PYTHON === undefined ? 'no QGIS was found: install the package python3-qgis' : undefined;
const QGIS_START = `from qgis.core import *
application = QgsApplication([], False)
application.initQgis()
`;

testUnless(NO_QGIS, 'the code for QGIS prints what the page shows', async () => {
  const [code] = snippets('QGIS', 'python');
  assert.equal([await outputOf(QGIS_PYTHON!, 'layers.py', QGIS_START + code!)], printed('QGIS'));
});

testUnless(NO_QGIS, 'QGIS draws the tiles, and asks for the features of a view', async () => {
  const addresses = section(read('docs/maps.md'), 'QGIS').matchAll(/`(http[^`]*)`/g);
  const [tiles, ogc, filtered] = [...addresses].map(([, address]) =>
    address!.replaceAll(SHOWN, site),
  );
  const box = '24.94,60.16,24.96,60.18';
  const counts = [await countOf(service, `bbox=${box}`), await countOf(service, 'tags=Lighting')];
  const code = `
points = QgsVectorLayer("url='${ogc}' typename='points' restrictToRequestBBOX='1'", '', 'OAPIF')
view = QgsFeatureRequest().setFilterRect(QgsRectangle(${box}))
print(sum(1 for _ in points.getFeatures(view)))
lighting = QgsVectorLayer("url='${filtered}' typename='points'", '', 'OAPIF')
print(sum(1 for _ in lighting.getFeatures()))
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor
def colours(address):
    settings = QgsMapSettings()
    # QGIS keeps its layers by reference alone
    layer = QgsVectorTileLayer('type=xyz&zmin=0&zmax=22&url=' + address, '')
    settings.setLayers([layer])
    settings.setDestinationCrs(QgsCoordinateReferenceSystem('EPSG:3857'))
    settings.setExtent(QgsRectangle(2700000, 8400000, 2850000, 8550000))
    settings.setOutputSize(QSize(200, 200))
    settings.setBackgroundColor(QColor('white'))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    image = job.renderedImage()
    return len({image.pixel(x, y) for x in range(200) for y in range(200)})
print(colours('${tiles}') > 3, colours('${tiles}'.replace('OPEN', 'NONE')))
`;
  const printed = await outputOf(QGIS_PYTHON!, 'view.py', QGIS_START + code);
  assert.is(printed, `${counts.join('\n')}\nTrue 1\n`);
});

test.run();
