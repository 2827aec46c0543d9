/** What a browser shows of HTML without tags. */
export function shownText(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** The JSON that a page shows. */
export function jsonOfPage<T = unknown>(html: string): T {
  const shown = /<pre class="json"[^>]*>(.*?)<\/pre>/s.exec(html)![1]!.replaceAll(/<[^>]*>/g, '');
  return JSON.parse(shownText(shown.slice(shown.indexOf('\n\n')))) as T;
}
