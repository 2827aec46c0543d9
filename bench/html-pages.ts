import { Budget } from '../src/budget.js';
import { generatePoint } from '../src/generate/points.js';
import { Random } from '../src/generate/random.js';
import { createAssets } from '../src/http/assets/assets.js';
import { type Exchange, FRESH_MEMORY } from '../src/http/formats/format.js';
import { pageLinks } from '../src/http/formats/links.js';
import { SingleRecords } from '../src/http/formats/records.js';
import { pageFormat } from '../src/http/pages/format.js';
import { createSite } from '../src/http/pages/site.js';
import { createSubjects } from '../src/http/routes/subjects.js';
import { renderPoint } from '../src/model/point.js';

const ROUNDS = 300;
const BASE = 'http://127.0.0.1:8080/rest/map_data_points/';

/**
 * Shows how long the HTML of the list takes for pages of 100 and of 1,000 points. The medians of many rounds count, after a warm-up.
 */
function main(): void {
  const parts = { prefix: '', tileUrl: undefined, hasImages: true, posting: 'anybody' } as const;
  const site = createSite({ assets: createAssets(''), ...parts });
  const { points } = createSubjects({ site, posting: undefined });
  const format = pageFormat(site, points, []);
  const random = new Random(1, 'point');
  for (const count of [100, 1_000]) {
    const records = Array.from({ length: count }, (_, i) =>
      Buffer.from(renderPoint(generatePoint(random, i + 1))),
    );
    const links = pageLinks(BASE, [], 2, 9);
    const list = { count: 9 * count, links, page: 2, pageCount: 9, base: BASE, pairs: [] };
    const page = { title: 'Map data points', list, records: new SingleRecords(records) };
    const exchange: Exchange = {
      target: '/rest/map_data_points/?page=2',
      snapshot: 'tag',
      headers: ['Allow', 'GET'],
      memory: FRESH_MEMORY,
      budget: new Budget(),
    };
    const rounds = Array.from({ length: ROUNDS }, () => {
      const started = performance.now();
      const { length } = format.encode(page, exchange);
      return { millis: performance.now() - started, length };
    }).slice(ROUNDS / 3);
    const millis = median(rounds.map((one) => one.millis));
    console.log(`${count} points: ${millis.toFixed(2)} ms, ${rounds[0]!.length} bytes`);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

main();
