"""Has a catalog follow the feed of a shop, and prints what the run did. SVC_API_KEY has the key, BASE_URL the address."""

from content_automation import ContentAutomation

with ContentAutomation() as client:
    shop = client.factories.create({"type": "seller", "name": "Acme", "settings": {"currency": "EUR"}})
    address = "https://shop.example.com/sandbox.xml"
    client.feeds.set(shop["id"], {"source": {"url": address}, "format": "google_xml", "photos": "none"})
    run = client.feeds.sync_and_wait(shop["id"])
    print(run["state"], run["created"], run["refused"])
    for refusal in run["refusals"]:
        print(refusal["row"], refusal["member"], refusal["reason"])
