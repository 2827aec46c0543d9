/** What makes the pages more convenient; without this script everything works, too. */

/** Leaves fields without a value out of the address that a form leads to. */
function leaveOutEmptyFields(form: HTMLFormElement): void {
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });
}

/** Puts the name of an image in the place of one that is not there. */
function nameMissing(image: HTMLImageElement): void {
  const replace = (): void => image.replaceWith(image.alt);
  if (image.complete && image.naturalWidth === 0) replace();
  else image.addEventListener('error', replace);
}

for (const form of document.querySelectorAll('form')) leaveOutEmptyFields(form);
for (const image of document.querySelectorAll('img')) nameMissing(image);
