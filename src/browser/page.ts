/** What makes the pages more convenient; without this script everything works, too. */

/** Of its own fields: parameters that a form only keeps are hidden, and have no id. */
function leaveOutEmptyFields(form: HTMLFormElement): void {
  const fields = [...form.querySelectorAll<HTMLInputElement>('[id][name], [data-time]')];
  form.addEventListener('formdata', ({ formData }) => {
    for (const { name, value } of fields) if (value === '') formData.delete(name);
  });
}

/** Puts pickers of date and time in place of a field, which sends them with the local offset. */
function offerPickers(field: HTMLInputElement): void {
  const at = new Date(field.value);
  const isTime = HAS_OFFSET.test(field.value) && Number.isFinite(at.getTime());
  const isShown = isTime && field.ariaInvalid !== 'true' && /^\d{4}-/.test(localText(at));
  // what names no offset, is wrong or has a year that no picker shows stays as it was written
  if (field.value !== '' && !isShown) return;
  const date = Object.assign(document.createElement('input'), { type: 'date', id: field.id });
  const ariaLabel = `${field.labels?.[0]?.textContent}, time`;
  const time = Object.assign(document.createElement('input'), { type: 'time', ariaLabel });
  const before = field.value;
  // a time that is left as it was keeps its seconds, which the picker does not show
  const [, seconds = ''] = SECONDS.exec(before) ?? [];
  if (before !== '') {
    const shown = localText(at);
    [date.defaultValue, time.defaultValue] = [shown.slice(0, 10), shown.slice(11, 16)];
  }
  const write = (): void => {
    const isKept = time.value !== '' && time.value === time.defaultValue;
    // a time that was typed alone is no instant: the browser asks for its date
    date.required = time.value !== '' && !isKept;
    const given = isKept ? time.value + seconds : time.value;
    const whole = given || (field.name.endsWith('_before') ? END_OF_DAY : '00:00:00');
    field.value = date.value === '' ? '' : withOffset(`${date.value}T${whole}`);
  };
  // it becomes hidden: browsers reset only what is not
  field.form?.addEventListener('reset', () => {
    field.value = before;
    date.required = false;
  });
  for (const picker of [date, time]) picker.addEventListener('input', write);
  field.removeAttribute('id');
  field.type = 'hidden';
  field.after(date, time);
}

/** Until a date alone means until its end. */
const END_OF_DAY = '23:59:59.999999';
const SECONDS = /[T ]\d\d:\d\d(:[\d.]+)/i;
const HAS_OFFSET = /[T ]\d\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$/i;

/** An instant on the clocks of this browser, with the offset that they have then. */
function withOffset(local: string): string {
  const minutes = -new Date(local).getTimezoneOffset();
  const two = (value: number): string => String(Math.trunc(value)).padStart(2, '0');
  const offset = Math.abs(minutes);
  return `${local}${minutes < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`;
}

/** An instant on the clocks of this browser, without its offset. */
function localText(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
}

/** Offers the values of a list behind each comma of a field, too. */
function offerBehindCommas(field: HTMLInputElement): void {
  const values = [...(field.list?.querySelectorAll('option') ?? [])].map(({ value }) => value);
  const offer = (): void => {
    // up to the last comma that no backslash makes part of a value
    const [typed = ''] = /^(?:.*[^\\])?,/.exec(field.value) ?? [];
    field.list?.replaceChildren(...values.map((value) => new Option('', typed + value)));
  };
  field.addEventListener('input', offer);
  // two fields may share a list
  field.addEventListener('focus', offer);
}

/** Gives the form of each visit a name of its own; a page that is gone back to keeps its. */
function nameVisit(field: HTMLInputElement): void {
  const visit: string =
    history.state?.visit ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
  history.replaceState({ ...history.state, visit }, '');
  field.value += ` ${visit}`;
}

/** Puts the name of an image in the place of one that is not there. */
function nameMissing(image: HTMLImageElement): void {
  const replace = (): void => image.replaceWith(image.alt);
  if (image.complete && image.naturalWidth === 0) replace();
  else image.addEventListener('error', replace);
}

declare const SwaggerUIBundle: (settings: object) => void;

/** Shows the description of the interface by Swagger UI, whose script stands in the page. */
function view(place: HTMLElement): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = (): void => {
    document.documentElement.classList.toggle('dark-mode', dark.matches);
  };
  follow();
  dark.addEventListener('change', follow);
  SwaggerUIBundle({
    url: place.dataset['document'],
    dom_id: '#viewer',
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
  });
}

function each<Found extends Element>(selector: string, act: (found: Found) => void): void {
  for (const found of document.querySelectorAll<Found>(selector)) act(found);
}

each('form[method="get"]', leaveOutEmptyFields);
each('input[data-time]', offerPickers);
each('input[list]', offerBehindCommas);
each('img', nameMissing);
each('input[name="_page"]', nameVisit);
each('#viewer', view);
// a page out of the browser's cache has what was typed before it was left, and filters by less
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) each<HTMLFormElement>('form[method="get"]', (form) => form.reset());
});
