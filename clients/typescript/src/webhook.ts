import { ConfigError, SignatureError } from './errors.js';
import type { Event } from './types.gen.js';

/** The seconds by which the clock of the service may differ from that of the receiver. */
const TOLERANCE = 300;

const bytes = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/** A request as the service sends it to a webhook. */
export interface Signed {
  headers: Record<string, string>;
  body: string;
}

/** Verifies the requests that a webhook receives, as Standard Webhooks 1.0 defines. */
export class Receiver {
  readonly #secrets: Uint8Array<ArrayBuffer>[];
  readonly #now: () => number;

  /** Takes the signing secret of the webhook (whsec_…); both, while a secret is replaced. */
  constructor(secrets: string | string[], options: { now?: () => number } = {}) {
    this.#now = options.now ?? Date.now;
    this.#secrets = [secrets].flat().map((secret) => {
      if (!/^whsec_([0-9A-Za-z+/]{4})*([0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$/.test(secret) || secret.length < 10) {
        throw new ConfigError('the signing secret is malformed: a secret is whsec_ and base64');
      }
      return bytes(secret.slice(6));
    });
    if (!this.#secrets.length) throw new ConfigError('the signing secret is missing');
  }

  /** Signs a body, or an event, with the first secret: for tests of a receiver. */
  async sign(event: string | object): Promise<Signed> {
    const body = typeof event === 'string' ? event : JSON.stringify(event);
    const id = String((JSON.parse(body) as { id?: string }).id ?? `evt_${crypto.randomUUID()}`);
    const time = String(Math.floor(this.#now() / 1000));
    const key = await this.#key(this.#secrets[0]!, 'sign');
    const sum = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${time}.${body}`));
    const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(sum)))}`;
    return {
      headers: {
        'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature,
      },
      body,
    };
  }

  #key(secret: Uint8Array<ArrayBuffer>, usage: 'sign' | 'verify'): Promise<CryptoKey> {
    return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [usage]);
  }

  /** Verifies a request by its headers and its body as it was received, and returns the event. */
  async event(
    headers: Headers | Record<string, string | string[] | undefined>, body: string | Uint8Array | ArrayBuffer,
  ): Promise<Event> {
    if (typeof body !== 'string' && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)) {
      throw new ConfigError(
        'the body was parsed already, but its signature is over the bytes as they were received: in Express use ' +
          "express.raw({ type: '*/*' }) on this route, and express.json() only after it; elsewhere pass " +
          'await request.text()',
      );
    }
    const all = headers instanceof Headers ? [...headers] : Object.entries(headers);
    const header = (name: string) => String(all.find(([key]) => key.toLowerCase() === name)?.[1] ?? '');
    const [id, time, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
    if (!id || !time || !signatures) throw new SignatureError('a header of the signature is missing');
    if (!/^\d+$/.test(time)) throw new SignatureError('the timestamp is malformed');
    if (Math.abs(this.#now() / 1000 - Number(time)) > TOLERANCE) {
      throw new SignatureError('the timestamp is too far from the present');
    }
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const signed = new TextEncoder().encode(`${id}.${time}.${text}`);
    for (const secret of this.#secrets) {
      const key = await this.#key(secret, 'verify');
      for (const signature of signatures.split(' ')) {
        const given = /^v1,([0-9A-Za-z+/]{43}=)$/.exec(signature)?.[1];
        if (given && (await crypto.subtle.verify('HMAC', key, bytes(given), signed))) return JSON.parse(text) as Event;
      }
    }
    throw new SignatureError('no signature matches');
  }
}
