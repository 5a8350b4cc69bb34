import type {
  IAuthenticateGeneric,
  Icon,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow';

/** A key of the API, and where the API is. */
export class ContentAutomationApi implements ICredentialType {
  name = 'contentAutomationApi';

  displayName = 'Content Automation API';

  icon: Icon = { light: 'file:../icons/contentAutomation.svg', dark: 'file:../icons/contentAutomation.dark.svg' };

  documentationUrl = 'https://github.com/content-automation/api/tree/main/clients/n8n#credentials';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      required: true,
      default: '',
      placeholder: 'e.g. https://api.example.com',
      description: 'Address of your service, without a path',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      required: true,
      default: '',
      placeholder: 'svc_test_…',
      description: 'A key of your account. A key that begins with svc_test_ uses the sandbox, and spends nothing.',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: '/v1/me' },
  };
}
