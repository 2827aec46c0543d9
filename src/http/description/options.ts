import type { Description } from './description.js';

/** What an address and its representations are, as OPTIONS tells. */
export function optionsOf(
  { name, description, parses, actions }: Description,
  formats: readonly { readonly mediaType: string }[],
): object {
  const renders = formats.map(({ mediaType }) => mediaType);
  return { name, description, renders, parses, ...(actions !== undefined && { actions }) };
}
