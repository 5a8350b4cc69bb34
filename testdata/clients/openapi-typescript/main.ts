// The main job with openapi-fetch and the types that openapi-typescript makes.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Factory = components["schemas"]["Factory"];
type Event = components["schemas"]["Event"];
type ContentState = components["schemas"]["ContentState"];

const { BASE_URL, SVC_TEST_KEY } = process.env;
assert(BASE_URL && SVC_TEST_KEY);
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${SVC_TEST_KEY}` } });

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

const created = await client.POST("/v1/factories", {
  body: { type: "musician", name: "The Examples", settings: { artist_name: "The Examples", genres: ["indie pop", "folk"] } },
});
assert(created.data, JSON.stringify(created.error));
const factory = created.data.data;
assert.equal(describe(factory), "The Examples: indie pop, folk");

const changed = await client.PATCH("/v1/factories/{factory_id}", {
  params: { path: { factory_id: factory.id } },
  body: { settings: { mood: "calm", lyrics_language: null } },
});
assert(changed.data?.data.type === "musician");
assert.equal(changed.data.data.settings.mood, "calm");

const order = {
  params: { header: { "Idempotency-Key": `${factory.id}-1` } },
  body: { factory_id: factory.id, kind: "post", prompt: "Our first concert" },
} as const;
const accepted = await client.POST("/v1/content-items", order);
assert(accepted.data, JSON.stringify(accepted.error));
let item = accepted.data.data;
const again = await client.POST("/v1/content-items", order);
assert.equal(again.data?.data.id, item.id);

const running: ContentState[] = ["queued", "generating"];
for (const deadline = Date.now() + 60_000; running.includes(item.state) && Date.now() < deadline; ) {
  await new Promise((resolve) => setTimeout(resolve, 250));
  const read = await client.GET("/v1/content-items/{content_item_id}", { params: { path: { content_item_id: item.id } } });
  assert(read.data, JSON.stringify(read.error));
  item = read.data.data;
}
assert.equal(item.state, "generated");
assert.equal(item.media[0]?.type, "image");

// A later version of the service may return values and members that the document lacks.
async function byLaterVersion(request: Request): Promise<Response> {
  const body = await (await fetch(request)).json();
  return Response.json({ ...body, data: { ...body.data, state: "resting", colour: "red" } });
}
const state: ContentState = "resting";
const later = await createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${SVC_TEST_KEY}` }, fetch: byLaterVersion }).GET(
  "/v1/content-items/{content_item_id}",
  { params: { path: { content_item_id: item.id } } },
);
assert(later.data);
assert.equal(later.data.data.state, state);
assert.equal(Object.entries(later.data.data).find(([name]) => name === "colour")?.[1], "red");

const events = await client.GET("/v1/events");
assert(events.data);
const event = events.data.data.find((e) => e.type === "content.generated" && e.data.object.id === item.id);
assert(event);
assert.equal(subject(event), item.caption);

const refused = await client.POST("/v1/factories", { body: { type: "brand", name: "", settings: { brand_name: "Acme" } } });
assert.equal(refused.response.status, 422);
const error = refused.error?.error;
assert(error?.code === "validation_failed");
assert.equal(error.param, "/name");

const unknown = await client.GET("/v1/factories/{factory_id}", { params: { path: { factory_id: "fac_01h455vb4pex5vsknk084sn02q" } } });
assert(unknown.error?.error.code === "not_found");
console.log("done");
