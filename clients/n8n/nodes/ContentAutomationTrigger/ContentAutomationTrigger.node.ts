import { randomUUID } from 'node:crypto';
import {
  NodeConnectionTypes,
  NodeOperationError,
  type IDataObject,
  type IHookFunctions,
  type INodeProperties,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
} from 'n8n-workflow';
import { call, pages } from '../ContentAutomation/api';
import { loadOptions } from '../ContentAutomation/lists.gen';
import { eventTypes } from './events.gen';
import { problemOf } from './signature';

/** What a workflow keeps of its webhook. */
interface Kept {
  webhookId?: string;
  secret?: string;
  /** The ids of the last messages, the oldest first. */
  seen?: string[];
}

/** The number of messages that are remembered, to drop repeats. */
const REMEMBERED = 1000;

const sorted = (list: unknown) => JSON.stringify([...((list ?? []) as string[])].sort());

/** Deletes a webhook, unless it is gone already. */
async function remove(hook: IHookFunctions, id: string): Promise<void> {
  const headers = { 'Idempotency-Key': randomUUID() };
  await call(hook, { method: 'DELETE', url: `/v1/webhooks/${encodeURIComponent(id)}`, headers }, [404]);
}

/** Returns the webhooks with the address of this node. */
async function found(hook: IHookFunctions): Promise<IDataObject[]> {
  const url = hook.getNodeWebhookUrl('default');
  const all: IDataObject[] = [];
  for await (const answer of pages(hook, { method: 'GET', url: '/v1/webhooks', qs: { limit: 100 } })) {
    all.push(...(answer.data as IDataObject[]).filter((webhook) => webhook.url === url));
  }
  return all;
}

/** The factories whose events start the workflow. */
const factories: INodeProperties = {
  displayName: 'Factory Names or IDs',
  name: 'factories',
  type: 'multiOptions',
  typeOptions: { loadOptionsMethod: 'loadFactory' },
  default: [],
  description:
    'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
  hint: 'Only events of these factories. Empty: all events',
};

/** The members of the object that are sent. */
const fields: INodeProperties = {
  displayName: 'Fields',
  name: 'fields',
  type: 'string',
  typeOptions: { multipleValues: true },
  default: [],
  placeholder: 'state',
  description: 'Only these members of data.object are sent, and its ID. Empty: all members.',
};

/** Starts workflows with the events of the API. */
export class ContentAutomationTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Content Automation Trigger',
    name: 'contentAutomationTrigger',
    icon: { light: 'file:../../icons/contentAutomation.svg', dark: 'file:../../icons/contentAutomation.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: 'Starts the workflow when content is generated, published or failed, and on other events',
    defaults: { name: 'Content Automation Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'contentAutomationApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        options: eventTypes,
        default: ['content.generated'],
        description:
          'The events that start the workflow. The key needs the scope webhooks:manage, and may read the events.',
      },
      factories,
      fields,
    ],
  };

  methods = { loadOptions };

  webhookMethods = {
    default: {
      /** Reports whether the webhook is there as it should be. One that has changed is deleted. */
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const kept = this.getWorkflowStaticData('node') as Kept;
        let there = false;
        for (const webhook of await found(this)) {
          const same =
            webhook.id === kept.webhookId &&
            kept.secret !== undefined &&
            webhook.state === 'enabled' &&
            sorted(webhook.event_types) === sorted(this.getNodeParameter('events')) &&
            sorted(webhook.factory_ids) === sorted(this.getNodeParameter('factories', [])) &&
            sorted(webhook.fields) === sorted(this.getNodeParameter('fields', []));
          if (same) there = true;
          // Also one whose creation had no answer: its secret is lost.
          else await remove(this, String(webhook.id));
        }
        return there;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const events = this.getNodeParameter('events') as string[];
        if (events.length === 0) throw new NodeOperationError(this.getNode(), 'Choose at least one event');
        const factories = this.getNodeParameter('factories', []) as string[];
        const fields = this.getNodeParameter('fields', []) as string[];
        const answer = await call(this, {
          method: 'POST',
          url: '/v1/webhooks',
          headers: { 'Idempotency-Key': randomUUID() },
          body: {
            url: this.getNodeWebhookUrl('default'),
            event_types: events,
            description: `n8n: ${this.getWorkflow().name ?? this.getWorkflow().id ?? ''}`.slice(0, 200),
            ...(factories.length > 0 && { factory_ids: factories }),
            ...(fields.length > 0 && { fields }),
          },
        });
        const { id, secret } = answer.data as { id: string; secret: string };
        const kept = this.getWorkflowStaticData('node') as Kept;
        Object.assign(kept, { webhookId: id, secret, seen: [] });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const kept = this.getWorkflowStaticData('node') as Kept;
        if (kept.webhookId) await remove(this, kept.webhookId);
        delete kept.webhookId;
        delete kept.secret;
        delete kept.seen;
        return true;
      },
    },
  };

  /** Takes a message: verified over its body as it was received, and once. */
  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const kept = this.getWorkflowStaticData('node') as Kept;
    const request = this.getRequestObject() as unknown as {
      headers: Record<string, string>;
      rawBody?: Buffer;
      readRawBody?: () => Promise<void>;
    };
    if (!request.rawBody) await request.readRawBody?.();
    const body = request.rawBody;
    const problem =
      kept.secret && body
        ? problemOf(request.headers, body, kept.secret, Date.now())
        : 'there is no secret to verify it with';
    if (problem || !body) {
      this.getResponseObject().status(401).json({ error: problem });
      return { noWebhookResponse: true };
    }
    const id = String(request.headers['webhook-id']);
    const seen = kept.seen ?? [];
    if (seen.includes(id)) return { webhookResponse: { repeated: true } };
    kept.seen = [...seen, id].slice(-REMEMBERED);
    const event = JSON.parse(body.toString('utf8')) as IDataObject;
    return { workflowData: [this.helpers.returnJsonArray(event)] };
  }
}
