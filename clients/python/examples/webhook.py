"""Receives webhooks in FastAPI. WEBHOOK_SECRET is the signing secret of the webhook: uvicorn webhook:app"""

import os

from fastapi import FastAPI, Request, Response

from content_automation import Receiver, SignatureError

receiver = Receiver(os.environ["WEBHOOK_SECRET"])
app = FastAPI()


@app.post("/hooks")
async def hooks(request: Request) -> Response:
    try:
        event = receiver.event(request.headers, await request.body())
    except SignatureError:
        return Response(status_code=400)
    if event["type"] == "content.generated":
        print(event["type"], event["data"]["object"]["title"], flush=True)
    return Response(status_code=204)
