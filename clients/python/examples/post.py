"""Makes a post from a brief, and prints the address of its picture. SVC_API_KEY has the key, BASE_URL the address."""

from content_automation import ContentAutomation

with ContentAutomation() as client:
    factory = client.factories.create({"type": "brand", "name": "Acme", "settings": {"brand_name": "Acme"}})
    prompt = "Our new trail running shoe, made of recycled nets"
    queued = client.content.create({"factory_id": factory["id"], "kind": "post", "prompt": prompt})
    item = client.content.wait_for(queued["id"])
    print(item["title"], item["media"][0]["url"])
