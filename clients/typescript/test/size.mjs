// Measures the bundled, minified and compressed size: node size.mjs MODULES ENTRY [PACKAGE…]. The entry may have 15 KB.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const [modules, entry, ...others] = process.argv.slice(2);
const { build } = createRequire(resolve(modules, 'x.js'))('esbuild');

async function size(path, resolveDir) {
  const { outputFiles } = await build({
    stdin: { contents: `import * as all from '${path}'; globalThis.all = all;`, resolveDir },
    bundle: true, minify: true, format: 'esm', platform: 'node', target: 'node20', write: false, logLevel: 'error',
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

const own = await size(resolve(entry), process.cwd());
console.log(`@content-automation/api ${(own / 1000).toFixed(1)} KB`);
for (const name of others) console.log(`${name} ${((await size(name, process.cwd())) / 1000).toFixed(1)} KB`);
process.exit(own > 15000 ? 1 : 0);
