"""Prints what SAM reads in a template of the gateway: a JSON list of paths, each with its function and its authorizer."""

import json
import sys

from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

stacks, unread = SamLocalStackProvider.get_stacks(sys.argv[1])
if unread:
    sys.exit(f"SAM does not read the stacks {unread}")
routes = [
    {
        "path": route.path,
        "methods": sorted(route.methods),
        "function": route.function_name,
        "authorizerFunction": getattr(route.authorizer_object, "lambda_name", ""),
    }
    for route in ApiProvider(stacks).routes
]
json.dump(routes, sys.stdout)
