import { createHmac, timingSafeEqual } from 'node:crypto';

/** The seconds by which the clock of the service may differ from that of n8n. */
const TOLERANCE = 300;

/** Reports what is wrong with a signature, as Standard Webhooks 1.0 defines it, or returns an empty text. */
export function problemOf(
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
  secret: string,
  now: number,
): string {
  const header = (name: string) => String(headers[name] ?? '');
  const [id, time, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  if (!id || !time || !signatures) return 'a header of the signature is missing';
  if (!/^\d{1,12}$/.test(time)) return 'the timestamp is malformed';
  if (Math.abs(now / 1000 - Number(time)) > TOLERANCE) return 'the timestamp is too far from the present';
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const want = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  // There are several while a secret is replaced.
  const right = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return signature.startsWith('v1,') && given.length === want.length && timingSafeEqual(given, want);
  });
  return right ? '' : 'no signature matches';
}
