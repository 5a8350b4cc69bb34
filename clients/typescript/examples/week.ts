// Plans a week of posts, and prints their titles. SVC_API_KEY has the key, BASE_URL the address.
import { ContentAutomation } from '@content-automation/api';

const client = new ContentAutomation();

const factory = await client.factories.create({ type: 'brand', name: 'Acme', settings: { brand_name: 'Acme' } });
const plan = await client.factories.createContentPlan(factory.id, {
  days: 7, posts_per_day: 1, content_types: ['post'], brief: 'The weeks before Christmas',
});
await client.factories.waitForContentPlan(factory.id, { content_plan_id: plan.id });
for await (const item of client.content.list({ content_plan_id: plan.id })) {
  console.log(item.publish_at, item.title);
}
