import { bare } from './core.js';
import { ConfigError, SignatureError } from './errors.js';
import type { Event } from './types.gen.js';
import { bytesOf } from './upload.js';

/** The seconds by which the clock of the service may differ from that of the receiver. */
const TOLERANCE = 300;

const decoded = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/**
 * The headers of a request: those of Node, of fetch, undici or node-fetch, a Map, or pairs. They are told apart by what
 * they can do: a class may be there several times.
 */
export type RequestHeaders =
  | { get(name: string): string | null | undefined }
  | Iterable<readonly [string, string]>
  | Record<string, string | string[] | undefined>;

/** Returns a header. An object that can be iterated gives pairs; get alone may know one spelling of a name only. */
function headerOf(headers: object, name: string): string {
  const all = headers as { [Symbol.iterator]?: unknown; get?: unknown };
  const iterable = typeof all[Symbol.iterator] === 'function';
  if (!iterable && typeof all.get === 'function') return String(all.get(name) ?? '');
  const pairs: Iterable<unknown> = iterable ? (headers as Iterable<unknown>) : Object.entries(headers);
  for (const pair of pairs) if (Array.isArray(pair) && String(pair[0]).toLowerCase() === name) return String(pair[1] ?? '');
  return '';
}

/** Reads a body whose signature is right. */
function eventOf(body: Uint8Array): Event {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body));
    if (typeof event === 'object' && event && !Array.isArray(event)) return event as Event;
  } catch { /* it is no event either */ }
  throw new SignatureError('the body is no event');
}

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
      bare('signing secret', secret);
      if (!/^whsec_([0-9A-Za-z+/]{4})*([0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$/.test(secret) || secret.length < 10) {
        throw new ConfigError('the signing secret is malformed: a secret is whsec_ and base64');
      }
      return decoded(secret.slice(6));
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
  async event(headers: RequestHeaders, body: string | Uint8Array | ArrayBuffer): Promise<Event> {
    const content = typeof body === 'string' ? new TextEncoder().encode(body) : bytesOf(body);
    if (!content) {
      throw new ConfigError(
        'the body was parsed already, but its signature is over the bytes as they were received: in Express use ' +
          "express.raw({ type: '*/*' }) on this route, and express.json() only after it; elsewhere pass " +
          'await request.text()',
      );
    }
    const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers ?? {}, `webhook-${name}`));
    if (!id || !time || !signatures) throw new SignatureError('a header of the signature is missing');
    if (!/^\d{1,12}$/.test(time)) throw new SignatureError('the timestamp is malformed');
    if (Math.abs(this.#now() / 1000 - Number(time)) > TOLERANCE) {
      throw new SignatureError('the timestamp is too far from the present');
    }
    const head = new TextEncoder().encode(`${id}.${time}.`);
    const signed = new Uint8Array(head.length + content.length);
    signed.set(head);
    signed.set(content, head.length);
    for (const secret of this.#secrets) {
      const key = await this.#key(secret, 'verify');
      for (const signature of signatures.split(' ')) {
        const given = /^v1,([0-9A-Za-z+/]{43}=)$/.exec(signature)?.[1];
        if (given && (await crypto.subtle.verify('HMAC', key, decoded(given), signed))) return eventOf(content);
      }
    }
    throw new SignatureError('no signature matches');
  }
}
