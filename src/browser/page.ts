/** What makes the pages more convenient; without this script everything works, too. */

/** Leaves fields without a value out of the address that a form leads to. */
function leaveOutEmptyFields(form: HTMLFormElement): void {
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });
}

/** Sends a form that writes once however often its button is clicked before the answer comes. */
function sendOnce(form: HTMLFormElement): void {
  let isSent = false;
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  // the page comes back as it was left
  addEventListener('pageshow', () => {
    isSent = false;
  });
}

/** Tells how long the service worked on the page, which only its headers say. */
function tellTiming(place: HTMLElement): void {
  const [navigation] = performance.getEntriesByType('navigation');
  const timings = (navigation as PerformanceNavigationTiming | undefined)?.serverTiming ?? [];
  const total = timings.find(({ name }) => name === 'total');
  if (total === undefined) return;
  const micros = Math.round(total.duration * 1000).toLocaleString('en');
  const isKept = timings.some(({ name }) => name === 'cache');
  place.textContent = `Answered in ${micros} µs${isKept ? ', from the cache' : ''}.`;
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[method="get"]')) {
  leaveOutEmptyFields(form);
}
for (const form of document.querySelectorAll<HTMLFormElement>('form[method="post"]')) {
  sendOnce(form);
}
const timing = document.getElementById('timing');
if (timing !== null) tellTiming(timing);
