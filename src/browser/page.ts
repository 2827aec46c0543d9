/** What makes the pages more convenient; without this script everything works, too. */

/** Leaves fields without a value out of the address that a form leads to. */
function leaveOutEmptyFields(form: HTMLFormElement): void {
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name);
  });
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[method="get"]')) {
  leaveOutEmptyFields(form);
}
