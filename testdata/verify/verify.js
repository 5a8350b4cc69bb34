// Verifies webhooks by the official Standard Webhooks library for JavaScript.
//
// Reads a JSON list of {secret, headers, body} from standard input, and writes a
// list of the same length: the verified event, or why it was refused as {error}.
"use strict";

const { readFileSync } = require("node:fs");
const { Webhook, WebhookVerificationError } = require("standardwebhooks");

function verify({ secret, headers, body }) {
  try {
    return new Webhook(secret).verify(body, headers);
  } catch (refused) {
    if (!(refused instanceof WebhookVerificationError)) throw refused;
    return { error: refused.message };
  }
}

const sent = JSON.parse(readFileSync(process.stdin.fd, "utf8"));
process.stdout.write(JSON.stringify(sent.map(verify)));
