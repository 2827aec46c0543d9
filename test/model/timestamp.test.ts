import fc from 'fast-check';
import { openTimeZone, UTC } from '../../src/model/time-zone.js';
import { formatUtc, parseDay, parseQueryTime, parseTimestamp } from '../../src/model/timestamp.js';
import { forAll } from '../support/properties.js';
import { assert, test } from '../support/uvu.js';

function accepts(input: string, micros: number, text: string): void {
  assert.equal(parseTimestamp(input), { micros, text }, input);
}

function refuses(input: string, reason: RegExp): void {
  const result = parseTimestamp(input);
  assert.type(result, 'string', input);
  assert.match(result as string, reason);
}

const NOON = Date.UTC(2023, 4, 1, 12) * 1000;
const NOON_TEXT = '2023-05-01T12:00:00.000000';

test('every accepted shape is rendered in one', () => {
  accepts('2023-05-01T12:00:00.000000+00:00', NOON, `${NOON_TEXT}+00:00`);
  accepts('2023-05-01T12:00:00Z', NOON, `${NOON_TEXT}+00:00`);
  accepts('2023-05-01t12:00:00z', NOON, `${NOON_TEXT}+00:00`);
  accepts('2023-05-01 12:00Z', NOON, `${NOON_TEXT}+00:00`);
  accepts('2023-05-01T12:00:00+0000', NOON, `${NOON_TEXT}+00:00`);
  accepts('2023-05-01T12:00:00+00', NOON, `${NOON_TEXT}+00:00`);
  accepts('2023-05-01T12:00:00.5Z', NOON + 500_000, '2023-05-01T12:00:00.500000+00:00');
  accepts('2023-05-01T12:00:00,25Z', NOON + 250_000, '2023-05-01T12:00:00.250000+00:00');
  // the offset stays as the data gave it
  accepts('2023-05-01T15:00:00+03:00', NOON, '2023-05-01T15:00:00.000000+03:00');
  accepts('2023-05-01T08:30:00-0330', NOON, '2023-05-01T08:30:00.000000-03:30');
  accepts('2023-05-02T11:59:00+23:59', NOON, '2023-05-02T11:59:00.000000+23:59');
  accepts('2023-05-01T12:00:00-00:00', NOON, `${NOON_TEXT}-00:00`);
  accepts('2023-05-01T12:00-00', NOON, `${NOON_TEXT}-00:00`);
  // what is finer than a microsecond is cut off, before the epoch too
  accepts('2023-05-01T12:00:00.1234569Z', NOON + 123_456, '2023-05-01T12:00:00.123456+00:00');
  accepts('1969-12-31T23:59:59.9999999Z', -1, '1969-12-31T23:59:59.999999+00:00');
  accepts('1970-01-01T00:00:00.000001Z', 1, '1970-01-01T00:00:00.000001+00:00');
  // leap days are known
  accepts('2024-02-29T00:00Z', Date.UTC(2024, 1, 29) * 1000, '2024-02-29T00:00:00.000000+00:00');
  accepts('2000-02-29T00:00Z', Date.UTC(2000, 1, 29) * 1000, '2000-02-29T00:00:00.000000+00:00');
});

test('everything else is refused with the reason', () => {
  for (const text of [
    ...['', '2023-05-01', '12:00:00Z', '20230501T120000Z', '2023-5-1T12:00Z', '2023-05-01T12Z'],
    ...['2023-05-01T12:00:00.Z', '2023-05-01  12:00Z', '2023-05-01T12:00:00 Z'],
    ...['2023-05-01T12:00:00+3', '2023-05-01T12:00:00+03:0', '2023-05-01T12:00:00+03:00:00'],
    ...['2023-05-01T12:00:00Z\n', ' 2023-05-01T12:00:00Z', '-2023-05-01T12:00:00Z'],
    ...['٢٠٢٣-٠٥-٠١T١٢:٠٠Z', '1682942400', 'now'],
  ]) {
    refuses(text, /^needs a date and a time with a UTC offset, such as .*, got "/);
  }
  refuses('2023-05-01T12:00:00', /^needs a UTC offset such as Z or \+02:00, got "2023/);
  // the space is no plus here, as no URL decoded it
  refuses('2023-05-01T12:00:00 02:00', /with a UTC offset/);
  refuses('0000-05-01T12:00Z', /^the year must be 0001 to 9999, got 0000$/);
  refuses('2023-00-01T12:00Z', /^the month must be 01 to 12, got 00$/);
  refuses('2023-13-01T12:00Z', /month/);
  refuses('2023-05-00T12:00Z', /^the day must be 01 to 31 in 2023-05, got 00$/);
  refuses('2023-04-31T12:00Z', /01 to 30/);
  refuses('2023-02-29T00:00Z', /^the day must be 01 to 28 in 2023-02, got 29$/);
  refuses('2023-02-30T12:00Z', /01 to 28/);
  refuses('1900-02-29T00:00Z', /01 to 28/);
  refuses('2023-05-01T24:00Z', /^the hour must be 00 to 23, got 24$/);
  refuses('2023-05-01T12:60Z', /^the minute must be 00 to 59, got 60$/);
  refuses('2023-05-01T12:00:60Z', /^the second must be 00 to 59, got 60$/);
  const offset = 'the UTC offset must have 00 to 23 hours and 00 to 59 minutes, got';
  refuses('2023-05-01T12:00+24:00', new RegExp(`^${offset} 24:00$`));
  refuses('2023-05-01T12:00+02:60', new RegExp(`^${offset} 02:60$`));
  refuses('1600-05-01T12:00Z', /between 1684-07-29 and 2255-06-05/);
  refuses('9999-12-31T23:59:59Z', /between 1684-07-29 and 2255-06-05/);
  assert.ok((parseTimestamp('x'.repeat(1e6)) as string).length < 200);
});

/** Instants that are exact, whole microseconds, and ways to write them. */
const micros = fc.integer({ min: -8_900_000_000_000_000, max: 8_900_000_000_000_000 });
const offsetMinutes = fc.integer({ min: -1439, max: 1439 });

test('any instant in any offset is what Date makes of it', () => {
  forAll(2000, [micros, offsetMinutes], (instant, offset) => {
    const text = written(instant, offset);
    assert.equal(parseTimestamp(text), { micros: instant, text });
    const millis = Date.parse(text.replace(/\d{3}(?=[+-]\d\d:)/, ''));
    assert.is(Math.floor(instant / 1000), millis);
    assert.is(formatUtc(instant), written(instant, 0));
    assert.is(parseQueryTime(text, UTC), instant);
    assert.is(parseQueryTime(text.replace('+', ' '), UTC), instant);
    assert.is(parseQueryTime(`${text.slice(0, 26)}Z`, UTC), instant + offset * 60e6);
  });
});

test('garbage never throws', () => {
  const letters = fc.constantFrom(...'0123456789-+:.,TtZz ٣é\n');
  forAll(5000, [fc.oneof(fc.string(), fc.string({ unit: letters, maxLength: 40 }))], (text) => {
    const result = parseTimestamp(text);
    if (typeof result !== 'string') assert.equal(parseTimestamp(result.text), result);
    parseQueryTime(text, UTC);
  });
});

test('a query may leave the offset out, and put spaces around', () => {
  const noon = ['2023-05-01T12:00:00', ' 2023-05-01 12:00 ', '2023-05-01T15:00:00 03:00'];
  noon.push('2023-05-01T15:00:00 0300', '2023-05-01T15:00:00 03');
  for (const text of noon) assert.is(parseQueryTime(text, UTC), NOON, text);
  const bad = ['', '2023-05-01', '2023-05-01T24:00', '2023-05-01T12:00:60', '2023-02-30T12:00'];
  for (const text of bad) assert.type(parseQueryTime(text, UTC), 'string', text);
});

test('without an offset a time is local, except where clocks skip or repeat it', async () => {
  const helsinki = await openTimeZone('Europe/Helsinki');
  const at = (text: string): number | string => parseQueryTime(text, helsinki);
  assert.is(at('2023-05-01T15:00:00'), NOON);
  assert.is(at('2023-01-01T02:00:00.000001'), Date.UTC(2023, 0, 1) * 1000 + 1);
  // the clock jumps from 03:00 to 04:00
  assert.is(at('2023-03-26T02:59:59.999999'), Date.UTC(2023, 2, 26, 1) * 1000 - 1);
  assert.match(at('2023-03-26T03:00:00') as string, /skipped or repeated .* Europe\/Helsinki/);
  assert.match(at('2023-03-26T03:59:59') as string, /add a UTC offset/);
  assert.is(at('2023-03-26T04:00:00'), Date.UTC(2023, 2, 26, 1) * 1000);
  // and goes back from 04:00 to 03:00
  assert.is(at('2023-10-29T02:59:59'), Date.UTC(2023, 9, 28, 23, 59, 59) * 1000);
  assert.match(at('2023-10-29T03:00:00') as string, /skipped or repeated/);
  assert.match(at('2023-10-29T03:59:59') as string, /skipped or repeated/);
  assert.is(at('2023-10-29T04:00:00'), Date.UTC(2023, 9, 29, 2) * 1000);
  // with an offset there is no doubt
  assert.is(at('2023-10-29T03:30:00+03:00'), Date.UTC(2023, 9, 29, 0, 30) * 1000);
  assert.is(at('2023-10-29T03:30:00+02:00'), Date.UTC(2023, 9, 29, 1, 30) * 1000);
});

test('in a record, a time without an offset and a date alone are of the zone', async () => {
  const helsinki = await openTimeZone('Europe/Helsinki');
  const at = (text: string, zone = helsinki): unknown => parseTimestamp(text, zone);
  const said = (text: string): { micros: number; text: string } => {
    const [date, time, offset] = [text.slice(0, 19), text.slice(19, 26), text.slice(26)];
    const micros = Date.parse(`${date}${offset}`) * 1000 + Number(time.slice(1));
    return { micros, text };
  };
  assert.equal(at('2023-05-01T15:00'), said('2023-05-01T15:00:00.000000+03:00'));
  assert.equal(at('2023-01-01 02:00:00.000001'), said('2023-01-01T02:00:00.000001+02:00'));
  assert.equal(at('2023-05-01'), said('2023-05-01T00:00:00.000000+03:00'));
  assert.equal(at('2023-05-01', UTC), said('2023-05-01T00:00:00.000000+00:00'));
  // with an offset it stays as the data gave it
  assert.equal(at('2023-05-01T12:00Z'), said('2023-05-01T12:00:00.000000+00:00'));
  const repeated = /repeated .* in Europe\/Helsinki; add a UTC off/;
  assert.match(at('2023-03-26T03:30:00') as string, repeated);
  assert.match(at('2023-10-29T03:30:00') as string, /got "2023-10-29T03:30:00"$/);
  assert.match(at('2023-02-29') as string, /^the day must be 01 to 28/);
  for (const text of ['2023-05', '20230501', '2023-05-01T', '2023-05-01Z', ' 2023-05-01']) {
    assert.type(at(text), 'string', text);
  }
});

test('a day without midnight, or with two, begins with its first moment', async () => {
  const day = async (zone: string, date: string): Promise<string> => {
    const time = parseTimestamp(date, await openTimeZone(zone));
    assert.type(time, 'object', `${time}`);
    return (time as { text: string }).text;
  };
  // clocks went from midnight to 01:00, and from midnight back to 23:00 of the day before
  assert.is(await day('America/Sao_Paulo', '2018-11-04'), '2018-11-04T01:00:00.000000-02:00');
  assert.is(await day('America/Sao_Paulo', '2018-02-18'), '2018-02-18T00:00:00.000000-03:00');
  // from 01:00 back to midnight
  assert.is(await day('America/Havana', '2023-11-05'), '2023-11-05T00:00:00.000000-04:00');
  // local mean time, 1:39:49 ahead: the instant is exact, its offset in whole minutes
  assert.is(await day('Europe/Helsinki', '1850-01-01'), '1849-12-31T23:59:11.000000+01:39');
});

test('a day ends where the next one begins', async () => {
  const days = async (name: string, date: string): Promise<string[]> => {
    const day = parseDay(date, await openTimeZone(name));
    assert.type(day, 'object', `${day}`);
    const { first, last } = day as { first: number; last: number };
    return [formatUtc(first), formatUtc(last)].map((text) => text.slice(0, 26));
  };
  for (const [name, date, ...expected] of [
    ['UTC', '2024-02-29', '2024-02-29T00:00:00.000000', '2024-02-29T23:59:59.999999'],
    // clocks went from midnight to 01:00; then from midnight back to 23:00 of that day
    ['Africa/Cairo', '2023-04-28', '2023-04-27T22:00:00.000000', '2023-04-28T20:59:59.999999'],
    ['Africa/Cairo', '2023-10-26', '2023-10-25T21:00:00.000000', '2023-10-26T21:59:59.999999'],
    ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00.000000', '2018-02-18T02:59:59.999999'],
  ]) {
    assert.equal(await days(name!, date!), expected, `${name} ${date}`);
  }
  assert.match(parseDay('2023-02-29', UTC) as string, /^the day must be 01 to 28/);
});

test('an offset from the cache is the one that is looked up', async () => {
  const zones = ['Europe/Helsinki', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kathmandu'];
  for (const name of zones) {
    const { offsetAt, offsetOf } = await openTimeZone(name);
    const seconds = fc.integer({ min: -6e9, max: 4e9 });
    fc.assert(
      fc.property(seconds, (instant) => {
        const local = instant + offsetOf(instant);
        const offset = offsetAt(local);
        if (offset !== undefined) assert.is(local - offset, instant);
        // asked for again, out of order
        assert.is(offsetAt(local + 1 - 1), offset);
      }),
      { numRuns: 300 },
    );
  }
});

/** The API's text for an instant, by way of Date. */
function written(instant: number, offset: number): string {
  const local = instant + offset * 60e6;
  const millis = Math.floor(local / 1000);
  const rest = String(local - millis * 1000).padStart(3, '0');
  const minutes = Math.abs(offset);
  const hh = String(Math.floor(minutes / 60)).padStart(2, '0');
  const mm = String(minutes % 60).padStart(2, '0');
  return `${new Date(millis).toISOString().slice(0, 23)}${rest}${offset < 0 ? '-' : '+'}${hh}:${mm}`;
}

test.run();
