/** The client of the Content-Automation API. */
import { Client } from './resources.gen.js';
import type { OwnMedia, OwnMediaCreate } from './types.gen.js';
import type { RequestOptions } from './core.js';
import { ConfigError } from './errors.js';
import { blobOf, sha256Of, store, type Uploadable } from './upload.js';

export * from './errors.js';
export { Receiver } from './webhook.js';
export { VERSION } from './core.js';
export type { Call, ClientOptions, LogEntry, Raw, RequestOptions, WaitOptions } from './core.js';
export type { Page, Pages } from './pages.js';
export type { Uploadable } from './upload.js';
export type { RequestHeaders, Signed } from './webhook.js';
export type * from './types.gen.js';
export type * from './resources.gen.js';

type MimeType = NonNullable<OwnMediaCreate['mime_type']>;

/** The client of the API. */
export class ContentAutomation extends Client {
  /**
   * Brings in a file: creates the media, sends the file to storage and waits until it is ready. The type of a Blob or
   * File is its own, unless another one is given. A stream goes to a temporary file first.
   */
  async upload(file: Uploadable, mimeType?: MimeType, options: RequestOptions = {}): Promise<OwnMedia> {
    const type = mimeType ?? String((file as { type?: string }).type ?? '');
    if (!type) throw new ConfigError("the MIME type of the file is missing: give one, such as 'image/png'");
    const { blob, free } = await blobOf(file);
    try {
      const body = { bytes: blob.size, mime_type: type as MimeType, sha256: await sha256Of(blob) };
      const media = await this.media.create(body, options);
      if (media.upload) await store(this.core, media.id, media.upload, blob, options.signal);
      return await this.media.waitFor(media.id, { signal: options.signal });
    } finally {
      await free();
    }
  }
}

export default ContentAutomation;
