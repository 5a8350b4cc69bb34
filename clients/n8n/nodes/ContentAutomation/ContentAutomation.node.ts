import { NodeConnectionTypes, type INodeType, type INodeTypeDescription } from 'n8n-workflow';
import { listSearch, loadOptions } from './lists.gen';
import { prepare, send } from './request';
import { descriptions, resources } from './resources/index.gen';

/** The operations of the API. */
export class ContentAutomation implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Content Automation',
    name: 'contentAutomation',
    icon: { light: 'file:../../icons/contentAutomation.svg', dark: 'file:../../icons/contentAutomation.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Make and publish social-media content: posts, videos, carousels, stories and music clips',
    defaults: { name: 'Content Automation' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'contentAutomationApi', required: true }],
    requestDefaults: { baseURL: '={{ $credentials.baseUrl }}', headers: { Accept: 'application/json' } },
    // One function sends all requests, so that repeats, pages and errors are the same in all operations.
    requestOperations: { pagination: send },
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: resources,
        default: 'content',
        routing: { send: { paginate: true, preSend: [prepare] } },
      },
      ...descriptions,
    ],
  };

  methods = { listSearch, loadOptions };
}
