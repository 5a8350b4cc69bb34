import { createHash } from 'node:crypto';
import type {
  DeclarativeRestApiSettings,
  IDataObject,
  IExecutePaginationFunctions,
  IHttpRequestOptions,
  INodeExecutionData,
  INodePropertyOptions,
} from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';
import { call } from './api';

type Request = DeclarativeRestApiSettings.ResultOptions;

const TRANSFER_TIMEOUT = 600_000;
const ATTEMPTS = 3;
const CHECKS = 120;

/** The purposes of the files of a content item. */
export const mediaRoles: INodePropertyOptions[] = [
  'captions',
  'clip',
  'cover',
  'final',
  'narration',
  'poster',
  'slide',
  'still',
  'track',
].map((value) => ({ name: value[0].toUpperCase() + value.slice(1), value }));

/**
 * Sends or fetches a file. Its address is signed, so it gets no key. A repeat has the same effect, so a transfer
 * without an answer is tried again.
 */
async function transfer(caller: IExecutePaginationFunctions, options: IHttpRequestOptions): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await caller.helpers.httpRequest({ timeout: TRANSFER_TIMEOUT, ...options });
    } catch (error) {
      if (attempt < ATTEMPTS) {
        await sleep(500 * 2 ** attempt * (1 + Math.random()));
        continue;
      }
      // The address is signed: it is not for logs.
      const status = (error as { httpCode?: string }).httpCode ?? 'no answer';
      throw new NodeApiError(
        caller.getNode(),
        { message: status },
        {
          message: `The file could not be ${options.method === 'PUT' ? 'sent' : 'fetched'} (${status})`,
          itemIndex: caller.getItemIndex(),
        },
      );
    }
  }
}

/** Brings in a binary file: creates the media, sends the file to storage, and waits until it is checked. */
export async function upload(this: IExecutePaginationFunctions, { options }: Request): Promise<INodeExecutionData[]> {
  const itemIndex = this.getItemIndex();
  const field = this.getNodeParameter('binaryPropertyName') as string;
  const { mimeType } = this.helpers.assertBinaryData(field);
  const file = await this.helpers.getBinaryDataBuffer(field);
  const sha256 = createHash('sha256').update(file).digest('hex');
  const body = { ...(options.body as IDataObject), mime_type: mimeType, bytes: file.length, sha256 };
  // The key is that of the file, which the rest of the request does not know.
  const own = this.getNodeParameter('additionalFields.idempotencyKey', '') as string;
  const key = createHash('sha256')
    .update(`${String(options.headers?.['Idempotency-Key'])}.${sha256}`)
    .digest('hex');
  const headers = { ...options.headers, 'Idempotency-Key': own || `n8n-${key}` };
  let media = (await call(this, { ...options, headers, body } as IHttpRequestOptions)).data as IDataObject;
  const target = media.upload as { url: string; method: 'PUT'; headers: IDataObject } | null;
  if (target) await transfer(this, { url: target.url, method: target.method, headers: target.headers, body: file });
  for (let check = 0; media.state === 'pending'; check++) {
    if (check > 0) await sleep(Math.min(250 * 2 ** check, 5_000));
    media = (await call(this, { method: 'GET', url: `/v1/media/${String(media.id)}` })).data as IDataObject;
    if (check === CHECKS) break;
  }
  if (media.state !== 'ready') {
    const reason = (media.reason as IDataObject | null)?.message ?? media.reason ?? 'the check has not ended';
    throw new NodeOperationError(this.getNode(), `The file was not accepted: ${String(reason)}`, {
      description: `Media ${String(media.id)} is ${String(media.state)}`,
      itemIndex,
    });
  }
  return [{ json: media, pairedItem: { item: itemIndex } }];
}

/** Fetches the files of a resource. */
export async function download(this: IExecutePaginationFunctions, { options }: Request): Promise<INodeExecutionData[]> {
  const itemIndex = this.getItemIndex();
  const field = this.getNodeParameter('binaryPropertyName') as string;
  const roles = this.getNodeParameter('roles', []) as string[];
  const resource = (await call(this, options as IHttpRequestOptions)).data as IDataObject;
  const all = Array.isArray(resource.media) ? (resource.media as IDataObject[]) : [resource];
  const files = all.filter(({ role, url }) => url && (roles.length === 0 || roles.includes(String(role))));
  if (files.length === 0) {
    const present = all.map(({ role }) => role).join(', ');
    throw new NodeOperationError(this.getNode(), `${String(resource.id)} has no file to download`, {
      description: `Its state is ${String(resource.state)}. Its files: ${present || 'none'}`,
      itemIndex,
    });
  }
  const items: INodeExecutionData[] = [];
  for (const { url, ...json } of files) {
    const content = (await transfer(this, { url: String(url), encoding: 'arraybuffer', json: false })) as Buffer;
    const type = String(json.mime_type);
    const name = `${String(json.id)}.${type.split('/')[1]?.replace('jpeg', 'jpg') ?? 'bin'}`;
    const binary = await this.helpers.prepareBinaryData(Buffer.from(content), name, type);
    const of = { resource_id: String(resource.id), metadata: resource.metadata };
    items.push({ json: { ...json, ...of }, binary: { [field]: binary }, pairedItem: { item: itemIndex } });
  }
  return items;
}
