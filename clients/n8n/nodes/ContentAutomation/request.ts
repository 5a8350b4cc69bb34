import { createHash } from 'node:crypto';
import type {
  DeclarativeRestApiSettings,
  IDataObject,
  IExecutePaginationFunctions,
  IExecuteSingleFunctions,
  IHttpRequestOptions,
  INodeExecutionData,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { fill, pages } from './api';

const PAGE = 100;

/** Completes a request: the ids in its path, its idempotency key, and the version that it changes. */
export async function prepare(
  this: IExecuteSingleFunctions,
  options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
  const url = fill(options.url, (name) => {
    const value = this.getNodeParameter(name, '', { extractValue: true }) as string;
    if (!value)
      throw new NodeOperationError(this.getNode(), `The field ${name} is empty`, { itemIndex: this.getItemIndex() });
    return value;
  });
  const method = options.method ?? 'GET';
  const headers: IDataObject = { ...options.headers };
  const body = options.body as IDataObject;
  const empty = !body || Object.keys(body).length === 0;
  if (method !== 'GET') {
    const own = this.getNodeParameter('additionalFields.idempotencyKey', '') as string;
    headers['Idempotency-Key'] = own || stableKey.call(this, method, url, body);
    const version = this.getNodeParameter(
      'updateFields.ifVersion',
      this.getNodeParameter('additionalFields.ifVersion', 0),
    );
    if (version) headers['If-Match'] = `"${version as number}"`;
  }
  // Without fields, only a change has a body.
  return { ...options, url, headers, body: empty && method !== 'PATCH' ? undefined : body };
}

/**
 * Returns the idempotency key of a step: the same when n8n tries the step again in this execution, and another one in
 * another execution, in the next round of a loop, for another item, and for another request. For an agent, the same
 * request in an execution is a repeat: each of its calls is a round.
 */
function stableKey(this: IExecuteSingleFunctions, method: string, url: string, body: IDataObject): string {
  const { id, type } = this.getNode();
  const round = type.endsWith('Tool') ? 'tool' : (this.getWorkflowDataProxy(this.getItemIndex()).$runIndex as number);
  const parts = [
    this.getInstanceId(),
    this.getWorkflow().id,
    this.getExecutionId(),
    id,
    round,
    this.getItemIndex(),
    method,
    url,
    body,
  ];
  return `n8n-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

/** Sends the request of an item, and all further ones for a list. */
export async function send(
  this: IExecutePaginationFunctions,
  request: DeclarativeRestApiSettings.ResultOptions,
): Promise<INodeExecutionData[]> {
  const options = request.options as IHttpRequestOptions;
  const wanted = Number(request.maxResults ?? Infinity);
  const pairedItem = { item: this.getItemIndex() };
  const items: INodeExecutionData[] = [];
  for await (const answer of pages(this, options)) {
    const found = Array.isArray(answer.data) ? answer.data : [answer.data ?? { success: true }];
    items.push(...found.map((json) => ({ json, pairedItem })));
    if (items.length >= wanted) break;
    options.qs = { ...options.qs, limit: Math.min(PAGE, wanted - items.length) };
  }
  return items.slice(0, wanted);
}
