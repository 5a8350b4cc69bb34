// A call and a list with the client that openapi-generator makes for TypeScript.
import assert from "node:assert/strict";
import { AccountApi, Configuration, FactoriesApi, WebhooksApi } from "./client/index.js";

const { BASE_URL, SVC_TEST_KEY } = process.env;
assert(BASE_URL && SVC_TEST_KEY);
const settings = new Configuration({ basePath: BASE_URL, accessToken: SVC_TEST_KEY });
const me = await new AccountApi(settings).getMe();
assert(me.data.id.startsWith("acc_"));
const factories = new FactoriesApi(settings);
const made = await factories.createFactory({
  factoryCreate: { type: "brand", name: "Acme", settings: { brandName: "Acme" } },
});
const page = await factories.listFactories({ limit: 10 });
assert(page.data.some((one) => one.id === made.data.id));
assert(new WebhooksApi(settings).createWebhook);
console.log("done");
