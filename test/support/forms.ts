/** The type of the forms that are made here. */
export const FORM = 'multipart/form-data; boundary=XX';

/** A part of a form; a file's where `file` names one. */
export function part(name: string, value: string | Buffer, file?: string, type?: string): Buffer {
  const fileName = file === undefined ? '' : `; filename="${file}"`;
  const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  const head = `--XX\r\nContent-Disposition: form-data; name="${name}"${fileName}\r\n${typeLine}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]);
}

/** A form of these parts. */
export function formOf(parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from('--XX--\r\n')]);
}

/** A form of these texts and an image. */
export function imageForm(
  fields: Readonly<Record<string, string>>,
  image: Buffer,
  name = 'a.jpg',
  type?: string,
): Buffer {
  const texts = Object.entries(fields).map(([field, value]) => part(field, value));
  return formOf([...texts, part('image', image, name, type)]);
}
