/* What speedscope itself makes of files: speedscope_import.mjs PACKAGE FILE… prints a JSON line each,
 * {"profiles": [{"name", "unit", "total"}]}. Its npm package is one script for a browser, so the
 * importers are taken out of it in a world with nothing in it. */
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const release = path.join(process.argv[2], 'dist', 'release');
const name = fs.readdirSync(release).find((n) => /^speedscope-.*\.js$/.test(n));
let code = fs.readFileSync(path.join(release, name), 'utf8');
const exported = /(\w+)=\{\};[\w$]+\(\1,\{[^}]*importProfileGroupFromText:/.exec(code);
if (!exported) throw new Error('the package has no importer where it used to be');
const lazy = new RegExp('Promise\\.resolve\\(\\)\\.then\\((\\(\\)=>\\(\\w+\\(\\),' + exported[1] + '\\))\\)');
if (!lazy.test(code)) throw new Error('the package loads its importer in another way');
code = code.replace(lazy, '(globalThis.importers=$1,Promise.resolve())');

const nothing = new Proxy(function () {}, {
  get: (target, key) => (key === Symbol.toPrimitive ? () => '' : nothing),
  apply: () => nothing, construct: () => nothing, set: () => true,
});
const world = {
  window: nothing, document: nothing, self: nothing, localStorage: nothing, matchMedia: () => nothing,
  console: { log() {}, warn() {}, error() {} }, navigator: { userAgent: '' },
  location: { hash: '', href: 'http://localhost/', protocol: 'http:' }, requestAnimationFrame: () => 0,
  TextDecoder, TextEncoder, setTimeout, clearTimeout, performance, atob, btoa, URL, WebAssembly,
  fetch: () => Promise.reject(new Error('there is no network here')),
};
world.globalThis = world;
vm.createContext(world);
try {
  vm.runInContext(code, world);
} catch (error) {
  if (!world.importers) throw error; /* the page itself cannot be drawn: never mind */
}
process.on('uncaughtException', () => {});
const importers = world.importers();
for (const file of process.argv.slice(3)) {
  const group = await importers.importProfileGroupFromText(path.basename(file), fs.readFileSync(file, 'utf8'));
  console.log(JSON.stringify({
    profiles: group.profiles.map((p) => ({
      name: p.getName(), unit: p.getWeightUnit(), total: p.getTotalWeight(),
    })),
  }));
}
process.exit(0);
