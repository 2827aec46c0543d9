/** Shows the description of the interface by Swagger UI, whose script stands in the page. */

declare const SwaggerUIBundle: (settings: object) => void;

const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = (): void => {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
};
follow();
dark.addEventListener('change', follow);

SwaggerUIBundle({
  url: document.getElementById('viewer')?.dataset['document'],
  dom_id: '#viewer',
  layout: 'BaseLayout',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
