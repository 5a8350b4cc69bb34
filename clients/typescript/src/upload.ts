import type { Core } from './core.js';
import { ConnectionError, UploadError } from './errors.js';
import type { MediaUpload } from './types.gen.js';

/** A file to upload. A large file of Node is not read into memory as `await openAsBlob(path)`, of node:fs. */
export type Uploadable = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | AsyncIterable<Uint8Array<ArrayBuffer>>;

/** The milliseconds that an upload may take. */
const TIMEOUT = 600000;
/** The statuses of storage that a repeat may mend. */
const REPEATED = [408, 429, 500, 502, 503, 504];

interface Builtins {
  'node:crypto': { createHash(name: string): { update(data: Uint8Array): void; digest(form: string): string } };
  'node:fs': {
    openAsBlob?(path: string): Promise<Blob>;
    promises: {
      mkdtemp(prefix: string): Promise<string>;
      writeFile(path: string, data: AsyncIterable<Uint8Array>): Promise<void>;
      rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void>;
    };
  };
  'node:os': { tmpdir(): string };
}

/** Returns a module of Node, Bun and Deno; undefined in browsers and workers. */
function builtin<N extends keyof Builtins>(name: N): Builtins[N] | undefined {
  const host = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return host.process?.getBuiltinModule?.(name) as Builtins[N] | undefined;
}

/** Returns the bytes of a buffer or a view, also of another realm or package; undefined if a value is none. */
export function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength);
  const buffer = /ArrayBuffer\]$/.test(Object.prototype.toString.call(value));
  return buffer ? new Uint8Array(value as ArrayBuffer) : undefined;
}

/** Returns a file as a Blob, and how to give it up. Storage wants its size first, so a stream goes to a file. */
export async function blobOf(file: Uploadable): Promise<{ blob: Blob; free(): Promise<void> }> {
  const free = async () => undefined;
  if (file instanceof Blob) return { blob: file, free };
  const bytes = bytesOf(file);
  if (bytes) return { blob: new Blob([bytes]), free };
  // A Blob of another package is none to fetch: it is read as a stream.
  const stream = 'stream' in file && typeof file.stream === 'function' ? file.stream() : file;
  const fs = builtin('node:fs');
  const prefix = async () => `${builtin('node:os')!.tmpdir()}/upload-`;
  // A program that may write no files, as some in Deno, holds the stream in memory.
  const folder = await prefix().then((name) => fs?.promises.mkdtemp(name)).catch(() => undefined);
  if (!fs?.openAsBlob || !folder) {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for await (const part of stream) parts.push(part);
    return { blob: new Blob(parts), free };
  }
  const remove = () => fs.promises.rm(folder, { recursive: true, force: true });
  try {
    await fs.promises.writeFile(`${folder}/file`, stream);
    return { blob: await fs.openAsBlob(`${folder}/file`), free: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns the SHA-256 of a file in hexadecimal. A browser has to read the file into memory for it. */
export async function sha256Of(blob: Blob): Promise<string> {
  const hash = builtin('node:crypto')?.createHash('sha256');
  if (!hash) {
    const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
    return Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join('');
  }
  for await (const part of blob.stream()) hash.update(part);
  return hash.digest('hex');
}

/** Sends a file to storage, by the signed request of its media. */
export async function store(
  core: Core, mediaId: string, upload: MediaUpload, blob: Blob, signal: AbortSignal | undefined,
): Promise<void> {
  const { url, method, headers } = upload;
  for (let attempt = 1; ; attempt++) {
    const ended = AbortSignal.timeout(TIMEOUT);
    let failure: Error;
    let mends = true;
    try {
      const both = signal ? AbortSignal.any([signal, ended]) : ended;
      // The fetch of Node copies a body into memory for redirects, unless a request has no window and refuses them.
      const init: RequestInit = { method, headers, body: blob, signal: both, redirect: 'error', window: null };
      const response = await core.plain(url, init);
      if (response.ok) return;
      const code = /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? '';
      failure = new UploadError(response.status, code, mediaId, attempt);
      mends = REPEATED.includes(response.status);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      failure = new ConnectionError('the upload got no answer', attempt, { cause });
    }
    if (!mends || !(await core.pause(attempt, signal))) throw failure;
  }
}
