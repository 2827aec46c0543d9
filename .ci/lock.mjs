// `npm install` drops the optional packages of other platforms from package-lock.json, and `npm ci` elsewhere
// then refuses the file. Ends with 1 and says what is missing.
import { readFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const { packages } = JSON.parse(readFileSync(path, 'utf8'));
const missing = Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => !packages[`${parent}/node_modules/${name}`]?.version)
    .filter(([name]) => !packages[`node_modules/${name}`]?.version)
    .map(([name, version]) => `${name} ${version}, which ${parent} may install`),
);
const fetched = Object.keys(packages).filter((name) => 'resolved' in packages[name]);
for (const one of missing) {
  console.error(`package-lock.json lacks ${one}: take its entry from the last commit again.`);
}
for (const name of fetched) {
  console.error(`package-lock.json names an address for ${name}: remove its "resolved" line.`);
}
if (missing.length + fetched.length > 0) process.exitCode = 1;
