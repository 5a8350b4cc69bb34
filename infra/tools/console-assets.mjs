// Builds the style of the account area into pkg/service/console/assets. It is committed, so that the service needs no
// Node. Run it after a change of a template or of the style: make console-assets. It also makes the fonts of all pages,
// in pkg/base/web/fonts.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pins = join(root, 'infra/tools/console');
const dir = join(root, '.tools/console-node');
const assets = join(root, 'pkg/service/console/assets');

// The installed folder is new if the pins have changed.
const wanted = readFileSync(join(pins, 'package.json'), 'utf8');
const stamp = join(dir, 'installed');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(pins, file), join(dir, file));
  execFileSync('npm', ['ci', '--loglevel=error'], { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(stamp, wanted);
}
const modules = join(dir, 'node_modules');

// Basecoat switches to dark by a class, which only a script can set. Here the browser's preference does it.
const base = readFileSync(join(modules, 'basecoat-css/dist/base/base.css'), 'utf8');
const media = base
  .replace('@custom-variant dark (&:is(html.dark *));', '@custom-variant dark (@media (prefers-color-scheme: dark));')
  .replace(/^\.dark \{([^]*?)^\}/m, '@media (prefers-color-scheme: dark) {\n:root {$1}\n}');
if (media.includes('.dark {') || media.includes('html.dark')) throw new Error('the base of Basecoat has another form');
writeFileSync(join(dir, 'base.css'), media);

// The styles are those of all components of Basecoat: the rules of components that no template uses are left out.
const templates = join(root, 'pkg/service/console/templates');
const used = new Set(readdirSync(templates).flatMap((name) => [...readFileSync(join(templates, name), 'utf8')
  .matchAll(/class="([^"]*)"/g)].flatMap(([, names]) => names.split(/[^\w-]+/))));
const styles = readFileSync(join(modules, 'basecoat-css/dist/styles/vega.css'), 'utf8')
  .replace(/^ {2}(\.[^{}]*)\{\n(?: {4}.*\n|\n)*? {2}\}\n/gm, (rule, selectors) =>
    selectors.split(/,\n/).some((one) => used.has(/^\s*\.([\w-]+)/.exec(one)?.[1])) ? rule : '');
writeFileSync(join(dir, 'styles.css'), styles);

const quoted = (path) => JSON.stringify(join(modules, path));
const source = [
  '@import "tailwindcss" source(none);',
  `@source ${JSON.stringify(join(root, 'pkg/service/console/templates'))};`,
  `@source ${JSON.stringify(join(root, 'pkg/service/console/*.go'))};`,
  '@import "./base.css";',
  ...['alert', 'badge', 'breadcrumb', 'button', 'card', 'checkbox', 'dialog', 'empty', 'field', 'input', 'label',
    'native-select', 'radio', 'scrollbar', 'table', 'textarea'].map((name) => `@import ${quoted(`basecoat-css/dist/components/${name}.css`)};`),
  '@import "./styles.css";',
  `@import ${JSON.stringify(join(root, 'pkg/service/console/style.css'))};`,
].join('\n');
writeFileSync(join(dir, 'source.css'), source);
mkdirSync(assets, { recursive: true });
execFileSync(join(modules, '.bin/tailwindcss'), ['--input', 'source.css', '--output', join(assets, 'console.css'), '--minify'],
  { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });

// The fonts: Inter in three files, of which a browser loads those whose characters the page has, and JetBrains Mono for
// code. Weights from 400 to 600 and figures of one width are kept, kerning is not: a third of the size for little.
const subset = createRequire(join(dir, 'package.json'))('subset-font');
const range = (from, to) => String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, i) => from + i));
const inter = 'inter/files/inter-', weights = { wght: { min: 400, max: 600 } };
const fonts = join(root, 'pkg/base/web/fonts');
mkdirSync(fonts, { recursive: true });
for (const [name, file, text, variationAxes] of [
  ['inter', `${inter}latin-wght-normal`, range(0x20, 0x7e) + '\u00a0–—’“”…·×−→←', weights],
  ['inter-latin', `${inter}latin-wght-normal`, range(0xa1, 0xff), weights],
  ['inter-cyrillic', `${inter}cyrillic-wght-normal`, range(0x410, 0x44f) + 'Ёё№', weights],
  ['mono', 'jetbrains-mono/files/jetbrains-mono-latin-wght-normal', range(0x20, 0x7e), { wght: 400 }],
]) {
  const whole = readFileSync(join(modules, '@fontsource-variable', `${file}.woff2`));
  const options = { targetFormat: 'woff2', variationAxes, keepFeatures: ['tnum'], noHinting: true };
  writeFileSync(join(fonts, `${name}.woff2`), await subset(whole, text, options));
}
