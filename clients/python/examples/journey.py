"""Takes a post of a client of an agency through its life in the sandbox. SVC_API_KEY has a test key."""

import os
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from threading import Thread

from content_automation import ContentAutomation, Receiver, SignatureError
from content_automation.types import ContentItemCreate, Event

events: "Queue[Event]" = Queue()
secrets: "list[str]" = []


class Hooks(BaseHTTPRequestHandler):
    """Verifies each request, and answers before it does anything else."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = Receiver(secrets).event(dict(self.headers), body)
        except SignatureError:
            self.send_response(400)
        else:
            events.put(event)
            self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Logs nothing."""


server = HTTPServer(("127.0.0.1", 0), Hooks)
Thread(target=server.serve_forever, daemon=True).start()

with ContentAutomation() as agency:
    profile = agency.profiles.create({"name": "Acme"})
    key = agency.api_keys.create(
        {
            "kind": "test",
            "name": "Acme",
            "profile_ids": [profile["id"]],
            "scopes": [
                "account:read", "content:publish", "content:read", "content:write", "factories:read", "factories:write",
                "social:manage", "webhooks:manage",
            ],  # fmt: skip
        }
    )
    with ContentAutomation(key["secret"]) as client:
        factory = client.factories.create(
            {"type": "brand", "name": "Acme", "settings": {"brand_name": "Acme"}, "approval": "required"}
        )
        order: ContentItemCreate = {"factory_id": factory["id"], "kind": "post", "prompt": "Our new trail running shoe"}
        estimate = client.account.estimate({"operation": "createContentItem", "body": order})

        webhook = client.webhooks.create(
            {
                "url": f"http://127.0.0.1:{server.server_port}/hooks",
                "event_types": ["content.published"],
                "profile_id": profile["id"],
            }
        )
        secrets.append(webhook["secret"] or "")

        generated = client.content.wait_for(client.content.create(order)["id"])
        revised = client.content.update(generated["id"], {"caption": "Light as air."}, if_match=generated["version"])
        client.approvals.approve(revised["id"], {"note": "Good."})
        account = client.social_accounts.connect(
            {
                "platform": "bluesky",
                "username": "acme.bsky.social",
                "password": os.environ["APP_PASSWORD"],
                "profile_id": profile["id"],
            }
        )
        soon = datetime.fromisoformat(revised["updated_at"].replace("Z", "+00:00")) + timedelta(seconds=90)
        client.content.schedule(
            revised["id"], {"publish_at": soon.isoformat(), "social_account_ids": [account["id"]]}
        )
        client.content.wait_for(revised["id"], until=["published"])
        event = events.get(timeout=10)

        agency.sandbox.advance({"seconds": 86_400})  # a day later there are figures
        (publication,) = client.content.list_publications(revised["id"]).to_list()
        items = client.content.list({"factory_id": factory["id"]}).to_list()
        likes = publication["metrics"] and publication["metrics"]["likes"]
        print(estimate["credits"], likes, [item["caption"] for item in items], event["type"])

        client.webhooks.delete(webhook["id"])
        client.content.delete(revised["id"])
        client.factories.delete(factory["id"])
        client.social_accounts.disconnect(account["id"])
    agency.api_keys.revoke(key["id"])
    agency.profiles.delete(profile["id"])
server.shutdown()
