// An agent with the official TypeScript client: from the address of the server alone to a call of a tool. It prints the
// address that the person opens, and reads from its input the address that the person comes back by.
import { createRequire } from "node:module";
import { createInterface } from "node:readline/promises";
import { pathToFileURL } from "node:url";

const [server, redirect, document] = process.argv.slice(2);
const from = createRequire(process.env.AGENT_TOOLS + "/package.json");
const load = (path) => import(pathToFileURL(from.resolve("@modelcontextprotocol/sdk/" + path)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { UnauthorizedError } = await load("client/auth.js");

const kept = {};
const provider = {
  redirectUrl: redirect,
  clientMetadataUrl: document || undefined,
  clientMetadata: { client_name: "Scripted agent", redirect_uris: [redirect], token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
  state: () => "state-of-the-agent",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (url) => console.log("open " + url),
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
};
const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(server), { authProvider: provider });
  const client = new Client({ name: "scripted", version: "1.0.0" });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const input = createInterface({ input: process.stdin });
    const back = new URL((await input[Symbol.asyncIterator]().next()).value);
    input.close();
    if (back.searchParams.get("state") !== "state-of-the-agent") throw new Error("another state");
    await transport.finishAuth(back.searchParams.get("code"));
  }
};
const client = (await connect()) ?? (await connect());
const { tools } = await client.listTools();
const result = await client.callTool({ name: "account_overview", arguments: {} });
console.log("done " + JSON.stringify({ id: kept.client.client_id, tools: tools.length, failed: !!result.isError,
  text: result.content[0].text.slice(0, 200) }));
await client.close();
