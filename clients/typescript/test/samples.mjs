// Writes the samples of the reference into a folder, a function each: node samples.mjs DATA FOLDER.
import { readFileSync, writeFileSync } from 'node:fs';

const [data, folder] = process.argv.slice(2);
const { samples } = JSON.parse(readFileSync(data, 'utf8').replaceAll('https://api.example.com', 'http://localhost:8080'));
const out = { ts: [], python: [], go: [], cli: [], sh: [] };
for (const [operation, all] of Object.entries(samples)) {
  for (const { lang, source } of all) out[lang].push([operation, source]);
}
const imported = (lines) => lines.filter((line) => line.startsWith('import ') || line.startsWith('from '));
const rest = (lines, indent) => lines.filter((line) => !imported([line]).length).map((line) => indent + line).join('\n');
const ts = out.ts.map(([id, source]) => [id, source.split('\n')]);
const py = out.python.map(([id, source]) => [id, source.split('\n')]);
writeFileSync(`${folder}/samples.ts`, [...imported(ts[0][1]),
  ...ts.map(([id, lines]) => `export async function ${id}() {\n${rest(lines, '  ')}\n}`)].join('\n'));
writeFileSync(`${folder}/samples.py`, [...imported(py[0][1]),
  ...py.map(([id, lines]) => `def ${id}() -> None:\n${rest(lines, '    ')}\n`)].join('\n'));
writeFileSync(`${folder}/samples.go`, ['package main', '', 'import (', '\t"context"', '\t"encoding/json"', '\t"fmt"', '\t"log"', '',
  '\tcontentautomation "github.com/content-automation/api/clients/go"', ')', '', 'var ctx = context.Background()', 'func main() {}',
  ...out.go.map(([id, source]) => `func ${id}() {\n${source}\n}`)].join('\n'));
writeFileSync(`${folder}/samples.json`, JSON.stringify(out.cli.map(([, source]) => source.split('\n').slice(1).join('\n'))));
console.log(out.ts.length, 'samples');
