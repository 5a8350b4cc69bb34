"""What a checker of types must accept, and what it must find: it reports an ignored error that is none."""

from __future__ import annotations

from content_automation import ContentAutomation, FailedError
from content_automation.types import Event


def states(client: ContentAutomation) -> None:
    client.content.wait_for("cnt_1", until=["published"])
    client.content.wait_for("cnt_1", until=["pubished"])  # type: ignore[list-item]
    client.media.wait_for("med_1", until=["published"])  # type: ignore[list-item]


def events(event: Event) -> str:
    if str(event["type"]) == "content.of_a_later_service":
        return event["id"]
    if event["type"] == "content.generated":
        return event["data"]["object"]["title"] or ""
    if event["type"] == "balance.low":
        return str(event["data"]["nothing"])  # type: ignore[typeddict-item]
    return event["id"]


def lists(client: ContentAutomation) -> list[str]:
    page = client.content.list().page()
    following = page.next_page()
    found = client.content.list().to_list(3) + page.items + (following.items if following else [])
    client.content.update("cnt_1", {"title": "T"}, if_match=3)
    return [item["id"] for item in found]


def failures(error: FailedError) -> str | None:
    return error.failure["message"] if error.failure else error.code


def bodies(client: ContentAutomation) -> None:
    """What the service would refuse for what it lacks is an error of types."""
    client.publishing.bulk({"action": "approve"})  # type: ignore[arg-type]
    client.publishing.bulk({"action": "approve", "content_item_ids": ["cnt_1"]})
    client.review_links.create({})  # type: ignore[arg-type]
    client.review_links.create({"factory_id": "fac_1"})
    client.content.create({"factory_id": "fac_1", "kind": "post"})  # type: ignore[arg-type]
    client.content.create({"factory_id": "fac_1", "kind": "post", "prompt": "A shoe"})
    client.social_accounts.connect({"platform": "instagram", "bot_token": "1:a"})  # type: ignore[arg-type]
    client.social_accounts.connect({"platform": "instagram"})
