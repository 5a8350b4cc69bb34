"""An agent with the official Python client: from the address of the server alone to a call of a tool. It prints the
address that the person opens, and reads from its input the address that the person comes back by."""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientMetadata

server, redirect, document = sys.argv[1], sys.argv[2], sys.argv[3] or None


class Kept:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def lead(address):
    print("open " + address, flush=True)


async def back():
    line = await asyncio.to_thread(sys.stdin.readline)
    q = {name: values[0] for name, values in parse_qs(urlsplit(line.strip()).query).items()}
    return AuthorizationCodeResult(code=q["code"], state=q.get("state"), iss=q.get("iss"))


async def main():
    kept = Kept()
    auth = OAuthClientProvider(
        server_url=server,
        client_metadata=OAuthClientMetadata(
            client_name="Scripted agent",
            redirect_uris=[redirect],
            token_endpoint_auth_method="none",
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=kept,
        redirect_handler=lead,
        callback_handler=back,
        client_metadata_url=document,
    )
    async with create_mcp_http_client(auth=auth) as http:
        async with Client(streamable_http_client(server, http_client=http)) as client:
            tools = (await client.list_tools()).tools
            result = await client.call_tool("account_overview", {})
            print(
                "done "
                + json.dumps(
                    {
                        "id": kept.client.client_id,
                        "tools": len(tools),
                        "failed": bool(result.is_error),
                        "text": result.content[0].text[:200],
                    }
                ),
                flush=True,
            )


asyncio.run(main())
