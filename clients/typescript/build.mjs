// Builds the package: ES modules in dist/esm, CommonJS in dist/cjs. TSC names the compiler, if it is not installed here.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(fileURLToPath(import.meta.url)));
const tsc = process.env.TSC ?? createRequire(import.meta.url).resolve('typescript/bin/tsc');
const out = process.argv[2] ?? 'dist';
rmSync(out, { recursive: true, force: true });
for (const [dir, type, ...options] of [
  ['esm', 'module'],
  ['cjs', 'commonjs', '--module', 'CommonJS', '--moduleResolution', 'Node10'],
]) {
  execFileSync(process.execPath, [tsc, '--outDir', `${out}/${dir}`, ...options], { stdio: 'inherit' });
  mkdirSync(`${out}/${dir}`, { recursive: true });
  writeFileSync(`${out}/${dir}/package.json`, JSON.stringify({ type }) + '\n');
}
