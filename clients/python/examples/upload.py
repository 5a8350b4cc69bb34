"""Brings in a logo, makes a post that shows it, and publishes the post: python upload.py LOGO.png"""

import os
import sys
from pathlib import Path

from content_automation import ContentAutomation

with ContentAutomation() as client:
    logo = client.upload(Path(sys.argv[1]), "image/png")
    factory = client.factories.create(
        {"type": "brand", "name": "Acme", "settings": {"brand_name": "Acme", "logo": logo["id"]}}
    )
    account = client.social_accounts.connect(
        {"platform": "telegram", "bot_token": os.environ["BOT_TOKEN"], "channel": "@acme_news"}
    )
    item = client.content.create({"factory_id": factory["id"], "kind": "post", "prompt": "Our new shoe"})
    client.content.wait_for(item["id"])
    client.content.publish(item["id"], {"social_account_ids": [account["id"]]})
    client.content.wait_for(item["id"], until=["published"])
    for publication in client.content.list_publications(item["id"]):
        print(publication["platform"], publication["url"])
