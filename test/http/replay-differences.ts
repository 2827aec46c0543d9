/** A recorded case that our service answers differently, on purpose. */
export interface Difference {
  /** The case's name, method and target, the latter without the path of the points. */
  readonly key: string;
  /** As `differencesOf` puts it. */
  readonly difference: string;
  /** The heading of `docs/decisions.md` that says why, as a link to it ends. */
  readonly decision: string;
}

/** Names a case, which its name alone does not always. */
export function keyOf(name: string, method: string, target: string): string {
  return `${name} | ${method} ${target.replace('/rest/map_data_points/', '')}`.trimEnd();
}

const TIMES = ['created_at_before', 'created_at_after', 'modified_at_before', 'modified_at_after'];

const GENEROUS_TIMES = ['2022-01-01T00:00:00+02:00', '2022-01-01t00:00:00z'];

const NO_TIMES = [
  '2022-01-01',
  '2022-01-01T00Z',
  '20220101T000000Z',
  '2022-13-01T00:00:00Z',
  '2022-02-30T00:00:00Z',
  'garbage',
  '2022-01-01T24:00:00Z',
  '2022-06-30T23:59:60Z',
  '1640995200',
];

/** All of them: the replay fails for one that is missing and for one too many. */
export const DIFFERENCES: readonly Difference[] = [
  ...differ('times-have-six-digits-and-are-read-generously', 'six digits', [
    'plain | GET',
    'emptyq | GET ?',
    'page=1 | GET ?ordering=created_at&page=1',
    'page=2 | GET ?ordering=created_at&page=2',
    'page=last | GET ?ordering=created_at&page=last',
    'page= 2 | GET ?ordering=created_at&page=%202',
    'page=+2 | GET ?ordering=created_at&page=%2B2',
    'page=2&page=3 | GET ?ordering=created_at&page=2&page=3',
    'page_size=100 | GET ?ordering=-created_at&page_size=100',
    'page_size=999 | GET ?ordering=-created_at&page_size=999',
    'page_size=1000 | GET ?ordering=-created_at&page_size=1000',
    'page_size=1001 | GET ?ordering=-created_at&page_size=1001',
    'page_size=5000 | GET ?ordering=-created_at&page_size=5000',
    'page_size= | GET ?ordering=-created_at&page_size=',
    'unknown | GET ?foo=bar&b=2&a=1&ordering=created_at&page=2',
    'blank kept | GET ?z=&ordering=created_at&page=3',
    'time window | GET ?created_at_after=2020-03-31T04%3A32%3A05.704160%2B03%3A00&created_at_before=2023-09-26T03%3A34%3A05.038993%2B03%3A00&ordering=created_at&page_size=100',
    'time window | GET ?created_at_after=2021-04-10T03%3A35%3A39.981802%2B03%3A00&created_at_before=2023-11-19T15%3A29%3A42.866093%2B02%3A00&ordering=-created_at&page_size=100',
    'time window | GET ?created_at_after=2021-01-31T19%3A28%3A25.647033%2B02%3A00&created_at_before=2021-11-13T23%3A21%3A09.698374%2B02%3A00&ordering=modified_at&page_size=50',
    'time window | GET ?created_at_after=2021-12-28T12%3A48%3A38.928592%2B02%3A00&created_at_before=2023-04-19T00%3A51%3A02.344964%2B03%3A00&ordering=-created_at&page_size=100',
    'bbox= | GET ?bbox=&ordering=created_at&page_size=5',
    'bbox=-200,-100,200,100 | GET ?bbox=-200,-100,200,100&ordering=created_at&page_size=5',
    'bbox rnd | GET ?bbox=23.636343,61.376343,23.883657,61.623657&ordering=modified_at&page_size=100&page=2',
    'bbox rnd | GET ?bbox=176.656132,-18.343868,179.343868,-15.656132&ordering=modified_at&page_size=100&created_at_after=2021-06-01T00:00:00Z',
    'bbox rnd | GET ?bbox=-3.137450,43.362550,7.837450,54.337450&ordering=modified_at&page_size=100&modified_at_before=2022-06-01T00:00:00Z',
    'bbox rnd | GET ?bbox=-6.501371,45.098629,6.301371,57.901371&ordering=-modified_at&page_size=100&page=2',
    'coords rnd | GET ?coordinates=60.197931,24.720511,4982.2&page_size=20',
    'coords rnd | GET ?coordinates=60.174516,24.915642,5301.7&page_size=5',
    'coords rnd | GET ?coordinates=60.447555,22.155524,58833.6&page_size=100',
  ]),
  ...differ('orders-and-page-sizes-are-those-of-the-specification', 'status 200 → 400', [
    'page_size=0 | GET ?ordering=-created_at&page_size=0',
    'page_size=-5 | GET ?ordering=-created_at&page_size=-5',
    'page_size=abc | GET ?ordering=-created_at&page_size=abc',
    'page_size=1.5 | GET ?ordering=-created_at&page_size=1.5',
  ]),
  ...differ('times-have-six-digits-and-are-read-generously', 'status 400 → 200', [
    ...TIMES.flatMap((name) => GENEROUS_TIMES.map((time) => timeCase(name, time))),
  ]),
  ...differ('every-error-is-json-and-names-what-is-wrong', 'body', [
    ...TIMES.flatMap((name) => NO_TIMES.map((time) => timeCase(name, time))),
    'bbox=24.95,60.165,24.96 | GET ?bbox=24.95,60.165,24.96&ordering=created_at&page_size=5',
    'bbox=24.95,60.165,24.96,60.175,1 | GET ?bbox=24.95,60.165,24.96,60.175,1&ordering=created_at&page_size=5',
    'bbox=a,b,c,d | GET ?bbox=a,b,c,d&ordering=created_at&page_size=5',
    'bbox=24.95,60.175,24.96,60.165 | GET ?bbox=24.95,60.175,24.96,60.165&ordering=created_at&page_size=5',
    'bbox=nan,nan,nan,nan | GET ?bbox=nan,nan,nan,nan&ordering=created_at&page_size=5',
    'bbox=24.95;60.165;24.96;60.175 | GET ?bbox=24.95;60.165;24.96;60.175&ordering=created_at&page_size=5',
    'bbox=1e400,0,1e401,1 | GET ?bbox=1e400,0,1e401,1&ordering=created_at&page_size=5',
    'bbox=,,, | GET ?bbox=,,,&ordering=created_at&page_size=5',
    'bbox=24.95,60.165,24.96, | GET ?bbox=24.95,60.165,24.96,&ordering=created_at&page_size=5',
  ]),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'count 51 → 60', [
    'bbox=24.95,60.165,24.96,60.175 | GET ?bbox=24.95,60.165,24.96,60.175&ordering=created_at&page_size=5',
    'bbox=%2024.95,%2060.165,%2024.96,%2060.175 | GET ?bbox=%2024.95,%2060.165,%2024.96,%2060.175&ordering=created_at&page_size=5',
    'bbox=24.95, 60.165, 24.96, 60.175 | GET ?bbox=24.95,%2060.165,%2024.96,%2060.175&ordering=created_at&page_size=5',
    'bbox=24.95%2C60.165%2C24.96%2C60.175 | GET ?bbox=24.95%2C60.165%2C24.96%2C60.175&ordering=created_at&page_size=5',
  ]),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'status 400 → 200', [
    'bbox=24.96,60.165,24.95,60.175 | GET ?bbox=24.96,60.165,24.95,60.175&ordering=created_at&page_size=5',
    'bbox=179,-20,-179,-10 | GET ?bbox=179,-20,-179,-10&ordering=created_at&page_size=5',
  ]),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'status 400 → 200', [
    'bbox=24.95,60.165,24.95,60.175 | GET ?bbox=24.95,60.165,24.95,60.175&ordering=created_at&page_size=5',
    'bbox=24.955,60.17,24.955,60.17 | GET ?bbox=24.955,60.17,24.955,60.17&ordering=created_at&page_size=5',
  ]),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'status 200 → 400', [
    'bbox=-inf,-inf,inf,inf | GET ?bbox=-inf,-inf,inf,inf&ordering=created_at&page_size=5',
  ]),
  ...differ(
    'a-box-includes-its-edges-and-may-cross-the-antimeridian',
    'count 2968 → 3000; six digits',
    ['bbox=-180,-90,180,90 | GET ?bbox=-180,-90,180,90&ordering=created_at&page_size=5'],
  ),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'count 91 → 114', [
    'bbox=170,-20,190,-10 | GET ?bbox=170,-20,190,-10&ordering=created_at&page_size=5',
  ]),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'count 39 → 40', [
    'bbox=0,50,10,60 | GET ?bbox=0,50,10,60&ordering=created_at&page_size=5',
  ]),
  ...differ(
    'a-box-includes-its-edges-and-may-cross-the-antimeridian',
    'count 195 → 196; six digits',
    ['bbox=-10,50,0,60 | GET ?bbox=-10,50,0,60&ordering=created_at&page_size=5'],
  ),
  ...differ('coordinates-are-latitude-longitude-radius-in-metres', 'status 200 → 400', [
    'coords=60.166,24.951,-5 | GET ?coordinates=60.166,24.951,-5&page_size=10',
    'coords=95,24,1000 | GET ?coordinates=95,24,1000&page_size=10',
    'coords=60,200,1000 | GET ?coordinates=60,200,1000&page_size=10',
    'coords=60.166,24.951,inf | GET ?coordinates=60.166,24.951,inf&page_size=10',
    'coords=60.166,24.951,nan | GET ?coordinates=60.166,24.951,nan&page_size=10',
    'coords=1e2,0,5 | GET ?coordinates=1e2,0,5&page_size=10',
  ]),
  ...differ('coordinates-are-latitude-longitude-radius-in-metres', 'status 500 → 400', [
    'coords=60.166,24.951 | GET ?coordinates=60.166,24.951&page_size=10',
    'coords=60.166,24.951,1000,5 | GET ?coordinates=60.166,24.951,1000,5&page_size=10',
    'coords=a,b,c | GET ?coordinates=a,b,c&page_size=10',
  ]),
  ...differ('a-box-includes-its-edges-and-may-cross-the-antimeridian', 'count 49 → 55', [
    'coords combo | GET ?coordinates=60.166,24.951,1000&page_size=20&bbox=24.95,60.165,24.96,60.175',
  ]),
  ...differ('orders-and-page-sizes-are-those-of-the-specification', 'status 200 → 400', [
    'ordering=created_at,-modified_at | GET ?ordering=created_at,-modified_at&page_size=5&bbox=24.9,60.1,25.0,60.2',
    'ordering=id | GET ?ordering=id&page_size=5&bbox=24.9,60.1,25.0,60.2',
    'ordering=- | GET ?ordering=-&page_size=5&bbox=24.9,60.1,25.0,60.2',
    'ordering=CREATED_AT | GET ?ordering=CREATED_AT&page_size=5&bbox=24.9,60.1,25.0,60.2',
    'ordering=--created_at | GET ?ordering=--created_at&page_size=5&bbox=24.9,60.1,25.0,60.2',
    'ordering=created_at, | GET ?ordering=created_at,&page_size=5&bbox=24.9,60.1,25.0,60.2',
    'ordering=foo,created_at | GET ?ordering=foo,created_at&page_size=5&bbox=24.9,60.1,25.0,60.2',
  ]),
  ...differ('the-weights-of-an-accept-header-count', 'type application/json → text/html', [
    'accept application/json;q=0.5,text/html | GET ?ordering=created_at&page_size=2',
  ]),
  ...differ('the-weights-of-an-accept-header-count', 'status 406 → 200', [
    'accept  | GET ?ordering=created_at&page_size=2',
  ]),
  ...differ('a-record-has-one-shape', 'body', [
    'options | OPTIONS',
    'options notif | OPTIONS /rest/notifications/',
  ]),
  ...differ('a-record-has-one-shape', 'location', [
    'post ok | POST',
    'post numbers | POST',
    'post commentempty | POST',
    'post commentnum | POST',
    'post commentws | POST',
    'post lon0 | POST',
    'post round | POST',
    'post exp | POST',
    'post form | POST',
    'post multipart | POST',
  ]),
  ...differ('a-posted-point-is-checked-and-completed-by-the-service', 'created_by; location', [
    'post unknown | POST',
  ]),
  ...differ('a-posted-point-is-checked-and-completed-by-the-service', 'status 201 → 400', [
    'post latrange | POST',
    'post lonrange | POST',
  ]),
  ...differ('a-posted-point-is-checked-and-completed-by-the-service', 'status 500 → 400', [
    'post digits | POST',
  ]),
  ...differ('every-error-is-json-and-names-what-is-wrong', 'body', [
    'post tagslong | POST',
    'post tagsnum | POST',
    'post tagsobj | POST',
    'post tagsempty | POST',
  ]),
  ...differ('every-error-is-json-and-names-what-is-wrong', 'body', ['post malformed | POST']),
  ...differ(
    'a-record-has-one-shape',
    'allow GET, PUT, PATCH, DELETE, HEAD, OPTIONS → GET, HEAD, OPTIONS; body',
    ['detail 1/ | GET 1/', 'detail 3000/ | GET 3000/'],
  ),
  ...differ('a-record-has-one-shape', 'body', ['root | GET /rest/']),
  ...differ('every-error-is-json-and-names-what-is-wrong', 'type text/html → application/json', [
    'unknown path | GET /rest/nope/',
  ]),
  ...differ('every-error-is-json-and-names-what-is-wrong', 'body', [
    'format=xml | GET ?format=xml&ordering=created_at&page_size=2',
  ]),
  ...differ('answers-can-be-revalidated-and-name-their-state', 'status 200 → 304', [
    'ims | GET ?page_size=1',
  ]),
];

function differ(decision: string, difference: string, keys: readonly string[]): Difference[] {
  return keys.map((key) => ({ key, difference, decision }));
}

function timeCase(parameter: string, time: string): string {
  const ordering = parameter.replace(/_(?:before|after)$/, '');
  const query = `?${parameter}=${time}&ordering=${ordering}&page_size=3`;
  return `${parameter}=${time} | GET ${query}`;
}
