"""Plans a week of posts, and prints their titles. SVC_API_KEY has the key, BASE_URL the address."""

import asyncio

from content_automation import AsyncContentAutomation


async def main() -> None:
    async with AsyncContentAutomation() as client:
        factory = await client.factories.create({"type": "brand", "name": "Acme", "settings": {"brand_name": "Acme"}})
        plan = await client.factories.create_content_plan(
            factory["id"],
            {"days": 7, "posts_per_day": 1, "content_types": ["post"], "brief": "The weeks before Christmas"},
        )
        await client.factories.wait_for_content_plan(factory["id"], {"content_plan_id": plan["id"]})
        async for item in client.content.list({"content_plan_id": plan["id"]}):
            print(item["publish_at"], item["title"])


asyncio.run(main())
