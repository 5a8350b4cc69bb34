// Puts the explorer's script where pkg/service/docs embeds it. It takes the one file
// from the package itself: installing the package would bring its 270
// dependencies, of which the file has all that it needs built in.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const version = '1.72.1';
const integrity = 'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==';

const folder = fileURLToPath(new URL('../../pkg/service/docs/assets', import.meta.url));
const name = `scalar-${version}.js.gz`;
if (existsSync(join(folder, name))) process.exit(0);

const scratch = mkdtempSync(join(tmpdir(), 'explorer-'));
try {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', scratch, `@scalar/api-reference@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  const archive = join(scratch, readdirSync(scratch)[0]);
  const found = 'sha512-' + createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (found !== integrity) throw new Error(`@scalar/api-reference@${version} has the checksum ${found}, not the pinned ${integrity}`);

  const script = execFileSync('tar', ['-xzOf', archive, 'package/dist/browser/standalone.js'], { maxBuffer: 64 << 20 });
  const notice = Buffer.from(`/*! @scalar/api-reference ${version} | MIT licence | https://github.com/scalar/scalar */\n`);
  const packed = gzipSync(Buffer.concat([notice, script]), { level: 9 });
  for (const old of readdirSync(folder)) if (old.endsWith('.gz')) rmSync(join(folder, old));
  writeFileSync(join(folder, name + '.part'), packed);
  renameSync(join(folder, name + '.part'), join(folder, name));
  console.log(`explorer: @scalar/api-reference ${version}, ${packed.length} bytes compressed`);
} finally {
  rmSync(scratch, { recursive: true });
}
