// The main job with the client that @hey-api/openapi-ts makes.
import assert from "node:assert/strict";
import { client } from "./client/client.gen.js";
import { createContentItem, createFactory, getContentItem, getFactory, listEvents, updateFactory } from "./client/sdk.gen.js";
import type { ContentState, CreateContentItemData, Event, Factory } from "./client/types.gen.js";

const { BASE_URL, SVC_TEST_KEY } = process.env;
assert(BASE_URL && SVC_TEST_KEY);
client.setConfig({ baseUrl: BASE_URL, auth: SVC_TEST_KEY });

// The type of a factory decides the type of its settings.
function describe(factory: Factory): string {
  switch (factory.type) {
    case "musician":
      return `${factory.settings.artist_name}: ${factory.settings.genres.join(", ")}`;
    case "brand":
      return factory.settings.brand_name;
    default:
      return factory.name;
  }
}

// The type of an event decides the type of its object.
function subject(event: Event): string {
  switch (event.type) {
    case "content.generated":
      return event.data.object.caption ?? "";
    case "studio.failed":
      return event.data.object.failure?.message ?? "";
    case "api_key.created":
      return event.data.object.last4;
    default:
      return "";
  }
}

const created = await createFactory({
  body: { type: "musician", name: "The Examples", settings: { artist_name: "The Examples", genres: ["indie pop", "folk"] } },
});
assert(created.data, JSON.stringify(created.error));
const factory = created.data.data;
assert.equal(describe(factory), "The Examples: indie pop, folk");

const changed = await updateFactory({ path: { factory_id: factory.id }, body: { settings: { mood: "calm", lyrics_language: null } } });
assert(changed.data?.data.type === "musician");
assert.equal(changed.data.data.settings.mood, "calm");

const order: Omit<CreateContentItemData, "url"> = {
  headers: { "Idempotency-Key": `${factory.id}-1` },
  body: { factory_id: factory.id, kind: "post", prompt: "Our first concert" },
};
const accepted = await createContentItem(order);
assert(accepted.data, JSON.stringify(accepted.error));
let item = accepted.data.data;
const again = await createContentItem(order);
assert.equal(again.data?.data.id, item.id);

const running: ContentState[] = ["queued", "generating"];
for (const deadline = Date.now() + 60_000; running.includes(item.state) && Date.now() < deadline; ) {
  await new Promise((resolve) => setTimeout(resolve, 250));
  const read = await getContentItem({ path: { content_item_id: item.id } });
  assert(read.data, JSON.stringify(read.error));
  item = read.data.data;
}
assert.equal(item.state, "generated");
assert.equal(item.media[0]?.type, "image");

// A later version of the service may return values and members that the document lacks.
async function byLaterVersion(input: RequestInfo | URL): Promise<Response> {
  const body = await (await fetch(input)).json();
  return Response.json({ ...body, data: { ...body.data, state: "resting", colour: "red" } });
}
const state: ContentState = "resting";
const later = await getContentItem({ path: { content_item_id: item.id }, fetch: byLaterVersion });
assert(later.data, JSON.stringify(later.error));
assert.equal(later.data.data.state, state);
assert.equal(Object.entries(later.data.data).find(([name]) => name === "colour")?.[1], "red");

const events = await listEvents();
assert(events.data);
const event = events.data.data.find((e) => e.type === "content.generated" && e.data.object.id === item.id);
assert(event);
assert.equal(subject(event), item.caption);

const refused = await createFactory({ body: { type: "brand", name: "", settings: { brand_name: "Acme" } } });
assert.equal(refused.response?.status, 422);
const error = refused.error?.error;
assert(error?.code === "validation_failed");
assert.equal(error.param, "/name");

const unknown = await getFactory({ path: { factory_id: "fac_01h455vb4pex5vsknk084sn02q" } });
assert(unknown.error?.error.code === "not_found");
console.log("done");
