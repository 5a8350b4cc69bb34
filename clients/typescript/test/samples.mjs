// Writes the samples of the explorer into a folder, a function each: node samples.mjs EXPLORER DOCUMENT FOLDER.
import { readFileSync, writeFileSync } from 'node:fs';
import vm from 'node:vm';

const [explorer, document, folder] = process.argv.slice(2);
const given = await new Promise((resolve) => {
  vm.runInNewContext(readFileSync(explorer, 'utf8'), {
    URL, JSON, Request, Response, crypto,
    fetch: async (url) => new Response(String(url).endsWith('openapi.json') ? readFileSync(document) : '[]'),
    sessionStorage: { getItem: () => null }, location: { href: 'http://localhost:8080/api-docs/explorer' },
    document: { body: {}, querySelector: () => null, querySelectorAll: () => [] }, MutationObserver: class { observe() {} },
    Scalar: { createApiReference: (_, options) => resolve(options) },
  });
});
const out = { typescript: [], python: [], shell: [] };
for (const item of Object.values(given.content.paths)) {
  for (const operation of Object.values(item)) {
    for (const { lang, source } of operation['x-codeSamples']) out[lang].push([operation.operationId, source]);
  }
}
const imported = (lines) => lines.filter((line) => line.startsWith('import ') || line.startsWith('from '));
const rest = (lines, indent) => lines.filter((line) => !imported([line]).length).map((line) => indent + line).join('\n');
const ts = out.typescript.map(([id, source]) => [id, source.split('\n')]);
const py = out.python.map(([id, source]) => [id, source.split('\n')]);
writeFileSync(`${folder}/samples.ts`, [...imported(ts[0][1]),
  ...ts.map(([id, lines]) => `export async function ${id}() {\n${rest(lines, '  ')}\n}`)].join('\n'));
writeFileSync(`${folder}/samples.py`, [...imported(py[0][1]),
  ...py.map(([id, lines]) => `def ${id}() -> None:\n${rest(lines, '    ')}\n`)].join('\n'));
writeFileSync(`${folder}/samples.json`, JSON.stringify(out.shell.map(([, source]) => source.split('\n').slice(1).join('\n'))));
console.log(out.typescript.length, 'samples');
