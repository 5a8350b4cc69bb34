// The engine of n8n with the built nodes: node type loader, credentials, executions, lists, hooks and webhooks. What
// n8n's server adds to the engine is done here as it does it: decrypted credentials, static data, and the raw body.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const folder = process.env.PACKAGE;
const require = createRequire(join(folder, 'package.json'));
require('reflect-metadata');
const core = require('n8n-core');
const flow = require('n8n-workflow');
// n8n-core has its own copy of what it puts its services into.
const { Container } = createRequire(require.resolve('n8n-core'))('@n8n/di');

export const NODE = 'n8n-nodes-content-automation.contentAutomation';
export const TRIGGER = 'n8n-nodes-content-automation.contentAutomationTrigger';
const AGENT = 'test.agent';
const CREDENTIAL = 'contentAutomationApi';
const AI_TOOL = 'ai_tool';

await Container.get(core.BinaryDataService).init();
const loader = new core.PackageDirectoryLoader(folder);
await loader.loadAll();

// Nodes of n8n itself, such as those of Google Sheets: they pass on what they get.
const passing = {
  description: {
    name: 'pass',
    displayName: 'Pass',
    group: [],
    version: 1,
    defaults: {},
    inputs: ['main'],
    outputs: ['main'],
    properties: [],
  },
  async execute() {
    return [this.getInputData()];
  },
};

// An agent that calls its only tool twice with the input's arguments.
const agent = {
  description: { ...passing.description, name: 'agent', inputs: ['main', AI_TOOL] },
  async execute() {
    const [tool] = await this.getInputConnectionData(AI_TOOL, 0);
    const said = [];
    for (let round = 0; round < 2; round++) said.push(JSON.parse(await tool.invoke(this.getInputData()[0].json)));
    return [[{ json: { name: tool.name, schema: Object.keys(tool.schema.shape), said } }]];
  },
};

/** Returns the type of a node. The type with Tool at its end is the one that n8n derives for agents. */
function nodeType(name) {
  if (name === AGENT) return agent;
  if (!name.startsWith('n8n-nodes-content-automation.')) return passing;
  const short = name.split('.')[1];
  const found = loader.getNode(short.replace(/Tool$/, '')).type;
  if (!short.endsWith('Tool')) return found;
  const type = Object.create(found);
  type.description = { ...found.description, name: short, inputs: [], outputs: [AI_TOOL] };
  type.execute = async function () {
    return await new core.RoutingNode(this, type).runNode();
  };
  return type;
}

const nodeTypes = { getByName: nodeType, getByNameAndVersion: nodeType, getKnownTypes: () => ({}) };
const credential = loader.getCredential(CREDENTIAL).type;

/** Evaluates expressions with the credential, as the server's helper of credentials does. */
function resolved(value, $credentials) {
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, resolved(of, $credentials)]));
  }
  if (typeof value !== 'string' || !value.startsWith('=')) return value;
  const whole = new flow.Workflow({ nodes: [], connections: {}, active: false, nodeTypes });
  const node = { id: 'x', name: 'x', type: 'x', typeVersion: 1, position: [0, 0], parameters: {} };
  return whole.expression.getParameterValue(value, null, 0, 0, node.name, [], 'internal', { $credentials });
}

export class Engine {
  #data;
  /** The requests of all executions are told here: what is called before each of them may change or refuse it. */
  onRequest = () => {};

  constructor(baseUrl, apiKey) {
    this.#data = { baseUrl, apiKey };
  }

  #additional(executionId, parameters) {
    const helper = {
      isCredentialUsableByNode: () => true,
      getParentTypes: () => [],
      getDecrypted: async () => ({ ...this.#data }),
      preAuthentication: async () => undefined,
      authenticate: async (data, _, options) => {
        const { headers } = resolved(credential.authenticate.properties, data);
        const request = { ...options, headers: { ...options.headers, ...headers } };
        this.onRequest(request);
        return request;
      },
      getCredentialsProperties: () => credential.properties,
    };
    const hooks = new core.ExecutionLifecycleHooks('trigger', executionId, {});
    return {
      credentialsHelper: helper,
      hooks,
      executionId,
      variables: {},
      currentNodeParameters: parameters,
      executionTimeoutTimestamp: Date.now() + 120_000,
      webhookBaseUrl: this.webhookBaseUrl,
      setExecutionStatus() {},
      instanceBaseUrl: 'http://localhost',
      restApiUrl: 'http://localhost/rest',
      webhookWaitingBaseUrl: 'http://localhost',
      formWaitingBaseUrl: 'http://localhost',
      webhookTestBaseUrl: 'http://localhost',
      logAiEvent() {},
      sendDataToUI() {},
    };
  }

  /** Makes a workflow of nodes with their credential. */
  workflow({ id = 'wf1', name = 'test', nodes, connections = {} }) {
    const credentials = { [CREDENTIAL]: { id: '1', name: 'key' } };
    const whole = nodes.map((node, at) => ({
      id: `n${at}`,
      typeVersion: 1,
      position: [0, 0],
      parameters: {},
      ...node,
      credentials,
    }));
    return new flow.Workflow({
      id,
      name,
      nodes: whole,
      connections,
      active: true,
      nodeTypes,
      settings: { timezone: 'Europe/Berlin' },
    });
  }

  /** Executes a workflow from one of its nodes on, and returns the output of each node, or its error. */
  async execute(workflow, start, items = [{ json: {} }], executionId = '1') {
    const data = flow.createRunExecutionData({
      executionData: { nodeExecutionStack: [{ node: workflow.getNode(start), data: { main: [items] }, source: null }] },
    });
    const execution = new core.WorkflowExecute(this.#additional(executionId), 'trigger', data);
    const run = await execution.processRunExecutionData(workflow);
    const outputs = {};
    for (const [name, runs] of Object.entries(run.data.resultData.runData)) {
      outputs[name] = {
        error: runs.at(-1).error,
        items: runs.at(-1).data?.main?.[0] ?? [],
        ai: runs.at(-1).data?.ai_tool,
      };
    }
    return outputs;
  }

  /** Runs one node on items, and returns its items. An error of the node is thrown. */
  async run(parameters, { items, executionId, ...node } = {}) {
    const workflow = this.workflow({ nodes: [{ name: 'Node', type: NODE, parameters, ...node }] });
    const { Node } = await this.execute(workflow, 'Node', items, executionId);
    if (Node.error) throw Node.error;
    return Node.items;
  }

  /** Sends the test request of the credential, as the server does: by a declarative node that is the request. */
  async testCredential() {
    const workflow = this.workflow({ nodes: [{ name: 'Test', type: NODE, parameters: {} }] });
    const node = workflow.getNode('Test');
    node.parameters = { temp: '' };
    const type = {
      description: {
        ...passing.description,
        credentials: [{ name: CREDENTIAL, required: true }],
        properties: [
          {
            displayName: 'Temp',
            name: 'temp',
            type: 'string',
            routing: { request: credential.test.request },
            default: '',
          },
        ],
      },
    };
    const additional = this.#additional('test');
    const input = { main: [[{ json: {} }]] };
    const context = new core.ExecuteContext(
      workflow,
      node,
      additional,
      'internal',
      flow.createRunExecutionData({}),
      0,
      input.main[0],
      input,
      { node, data: input, source: null },
      [],
    );
    return await new core.RoutingNode(context, type, {
      id: '1',
      name: 'key',
      type: CREDENTIAL,
      data: this.#data,
    }).runNode();
  }

  /** Calls a method of lists, as the editor does. */
  async list(kind, method, parameters = {}, ...args) {
    const workflow = this.workflow({ nodes: [{ name: 'Node', type: NODE, parameters }] });
    const node = workflow.getNode('Node');
    const context = new core.LoadOptionsContext(workflow, node, this.#additional('list', parameters), '');
    return await nodeType(NODE).methods[kind][method].call(context, ...args);
  }

  /** Calls a hook of the trigger's webhook: checkExists, create or delete. */
  async hook(name, workflow, node) {
    const webhookData = { webhookDescription: nodeType(TRIGGER).description.webhooks[0], node: node.name };
    const context = new core.HookContext(workflow, node, this.#additional('hook'), 'trigger', 'activate', webhookData);
    return await nodeType(TRIGGER).webhookMethods.default[name].call(context);
  }

  /** Activates a workflow, as the server does: it makes the webhook unless it is there. */
  async activate(workflow, node) {
    if (!(await this.hook('checkExists', workflow, node))) await this.hook('create', workflow, node);
  }

  /** Receives the requests of webhooks, and executes the workflow from its trigger on. */
  async listen(workflow, node, done) {
    const server = createServer(async (req, res) => {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      req.rawBody = Buffer.concat(chunks);
      res.status = (code) => Object.assign(res, { statusCode: code });
      res.json = (body) => res.end(JSON.stringify(body));
      const additional = { ...this.#additional('hook'), httpRequest: req, httpResponse: res };
      const webhookData = { webhookDescription: nodeType(TRIGGER).description.webhooks[0], node: node.name };
      const context = new core.WebhookContext(workflow, node, additional, 'trigger', webhookData, [], null);
      const answer = await nodeType(TRIGGER).webhook.call(context);
      if (!answer.noWebhookResponse) res.json(answer.webhookResponse ?? { message: 'Workflow was started' });
      if (answer.workflowData)
        done(await this.execute(workflow, node.name, answer.workflowData[0], `e${Math.random()}`));
      else done(null, answer);
    });
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    this.webhookBaseUrl = `http://127.0.0.1:${server.address().port}/webhook`;
    return server;
  }

  /** Has an agent call the node as its tool. */
  async asTool(parameters, args) {
    const workflow = this.workflow({
      nodes: [
        { name: 'Agent', type: AGENT },
        { name: 'Tool', type: `${NODE}Tool`, parameters },
      ],
      connections: { Tool: { [AI_TOOL]: [[{ node: 'Agent', type: AI_TOOL, index: 0 }]] } },
    });
    return await this.execute(workflow, 'Agent', [{ json: args }], 'agent');
  }
}

/** Returns the bytes of a binary output. */
export async function bytes(item, field = 'data') {
  return await Container.get(core.BinaryDataService).getAsBuffer(item.binary[field]);
}

/** Makes a binary input. */
export async function binary(content, mimeType, fileName) {
  return { data: Buffer.from(content).toString('base64'), mimeType, fileName };
}
