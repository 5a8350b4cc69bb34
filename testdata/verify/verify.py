"""Verifies webhooks by the official Standard Webhooks library for Python.

Reads a JSON list of {secret, headers, body} from standard input, and writes a
list of the same length: the verified event, or why it was refused as {error}.
"""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def verify(sent):
    try:
        return Webhook(sent["secret"]).verify(sent["body"], sent["headers"])
    except WebhookVerificationError as refused:
        return {"error": str(refused)}


json.dump([verify(sent) for sent in json.load(sys.stdin)], sys.stdout)
