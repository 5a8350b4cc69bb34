/** The client of the Content-Automation API. */
import { Client } from './resources.gen.js';
import type { OwnMedia, OwnMediaCreate } from './types.gen.js';
import type { RequestOptions } from './core.js';

export * from './errors.js';
export { Receiver } from './webhook.js';
export { VERSION } from './core.js';
export type { Call, ClientOptions, Page, Pages, Raw, RequestOptions, WaitOptions } from './core.js';
export type * from './types.gen.js';
export type * from './resources.gen.js';

/** The client of the API. */
export class ContentAutomation extends Client {
  /** Brings in a file: creates the media, sends the file to storage and waits until it is ready. */
  async upload(file: Uint8Array<ArrayBuffer>, mimeType: NonNullable<OwnMediaCreate['mime_type']>, options: RequestOptions = {}): Promise<OwnMedia> {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', file));
    const sha256 = Array.from(hash, (b) => b.toString(16).padStart(2, '0')).join('');
    const media = await this.media.create({ bytes: file.byteLength, mime_type: mimeType, sha256 }, options);
    if (media.upload) {
      const { url, method, headers } = media.upload;
      await this.core.put(url, { method, headers, body: file, ...(options.signal && { signal: options.signal }) });
    }
    return this.media.waitFor(media.id, options.signal && { signal: options.signal });
  }
}

export default ContentAutomation;
