"""Starts the local AWS (ministack), changed where this project needs it."""

import json
import os
import random
import re
import socketserver
from urllib.parse import parse_qs

from hypercorn.config import Config
from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime, responses
from ministack.services import cloudwatch, cognito, kms, lambda_svc, secretsmanager, sqs
from ministack.services.cloudformation import changesets, provisioners

# Its Lambda writes each event to a function in two small pieces. With Nagle's
# algorithm the second one waits 40 ms for the acknowledgement of the first.
socketserver.StreamRequestHandler.disable_nagle_algorithm = True

# It would end a connection after 1,000 requests, with the next one under way on it.
Config.keep_alive_max_requests = 10**9

# After each call it waits up to 50 ms for a function's first log line, for the
# sake of the answer's log tail, which nobody asks for here.
lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (0.001, 0.001, 0.25)

# Every resource of ours refuses plain HTTP. That never leaves this machine here:
# to the policies it is as good as TLS.
pin_request_origin = app.pin_request_origin
app.pin_request_origin = lambda source_ip, _secure: pin_request_origin(source_ip, True)


# IAM knows no actions of these names: those for one message permit batches as well.
batches = {"SendMessageBatch": "SendMessage", "ChangeMessageVisibilityBatch": "ChangeMessageVisibility"}
action_from_target = iam_actions._action_from_target
iam_actions._action_from_target = lambda headers: batches.get(action := action_from_target(headers), action)


def leading_keys(body):
    """The partition keys of the items that a call of DynamoDB names."""
    data = json.loads(body or b"{}")
    # Our conditions of queries begin with #p = :p
    if ":p" in data.get("ExpressionAttributeValues", {}) and not data.get("IndexName"):
        return [data["ExpressionAttributeValues"][":p"]["S"]]
    named = [data, *(detail for item in data.get("TransactItems") or [] for detail in item.values())]
    items = [n.get("Key") or n.get("Item") or {} for n in named]
    for request in (data.get("RequestItems") or {}).values():
        items += request.get("Keys") or []
    keys = [item["pk"]["S"] for item in items if "pk" in item]
    return keys


# Nor the condition keys for the items of a table, or for the context of a data key.
request_tag_context = iam_actions.request_tag_context


def context_of_request(service, action, body, params):
    context = request_tag_context(service, action, body, params)
    if service == "dynamodb" and (keys := leading_keys(body)):
        context["dynamodb:LeadingKeys"] = keys
    if service == "kms":
        bound = json.loads(body or b"{}").get("EncryptionContext") or {}
        context.update({f"kms:EncryptionContext:{name}": value for name, value in bound.items()})
    return context


iam_actions.request_tag_context = context_of_request


# What the functions' roles are permitted and refused, by which statements: each case
# once. The end-to-end tests read it, to find permissions that nothing needs. Policies of
# resources pass here, too; no role has their statements.
authorizations = open(os.environ["AUTHORIZATIONS"], "a", buffering=1, encoding="utf-8")
recorded = set()
evaluate = iam_evaluator.evaluate


def evaluate_and_record(ctx, policies, *limits):
    if ctx.principal_type == "AssumedRole":
        matching = [
            {
                "Effect": s.effect,
                "Action": s.actions,
                "Resource": s.resources,
                "Condition": s.conditions,
                "Matched": [r for r in s.resources if iam_evaluator.fnmatch_iam_cs(ctx.resource_arn, r)],
            }
            for statements in policies
            for s in statements
            if iam_evaluator._first_match(ctx, [s], s.effect)
        ]
        case = {"Caller": ctx.principal_arn, "Action": ctx.action, "Statements": matching}
        if matching and (text := json.dumps(case)) not in recorded:
            recorded.add(text)
            authorizations.write(json.dumps({**case, "Resource": ctx.resource_arn}) + "\n")
    return evaluate(ctx, policies, *limits)


iam_evaluator.evaluate = evaluate_and_record


# It knows of queues that a function may name what failed of a batch, but not of
# streams: it would go on and leave those records out. Here the batch comes again.
execute_function = lambda_svc._execute_function


def execute(func, event):
    result = execute_function(func, event)
    records = event.get("Records") if isinstance(event, dict) else None
    if records and records[0].get("eventSource") == "aws:dynamodb" and not result.get("error"):
        body = result.get("body")
        if isinstance(body, dict) and body.get("batchItemFailures"):
            return {**result, "error": True}
    return result


lambda_svc._execute_function = execute


# Its threads put a new list of messages in the place of a queue's each time that
# they look for the dead ones or delete some. What is sent meanwhile goes into the
# old list and is lost.
dlq_sweep = sqs._dlq_sweep


def sweep_dead(queue):
    limit = json.loads(queue["attributes"].get("RedrivePolicy") or "{}").get("maxReceiveCount")
    if limit and any(m["receive_count"] >= int(limit) for m in list(queue["messages"])):
        dlq_sweep(queue)


def delete(queue_url, receipt_handles):
    with sqs._queues_lock:
        messages = sqs._get_q(queue_url)["messages"]
        for message in list(messages):
            if message.get("receipt_handle") in receipt_handles:
                messages.remove(message)


sqs._dlq_sweep = sweep_dead
sqs._delete_messages_for_esm = delete


# Its aliases would send all calls to one version, whatever weight another one has.
def version_by_weight(func, qualifier):
    alias = (func or {}).get("aliases", {}).get(qualifier) or {}
    for version, weight in ((alias.get("RoutingConfig") or {}).get("AdditionalVersionWeights") or {}).items():
        if random.random() < float(weight):
            return version
    return qualifier


invoke = lambda_svc._invoke
record_of_qualifier = lambda_svc._effective_func_record_for_qualifier


async def invoke_by_weight(name, event, headers, path_qualifier=None, query_params=None):
    func = lambda_svc._functions.get(name)
    qualifier = path_qualifier or lambda_svc._qp_first(query_params or {}, "Qualifier")
    version = version_by_weight(func, qualifier)
    answer = await invoke(name, event, headers, version, query_params)
    if alias := (func or {}).get("aliases", {}).get(qualifier):
        count_by_version(name, qualifier, alias["FunctionVersion"] if version == qualifier else version, answer)
    return answer


def count_by_version(name, alias, version, answer):
    """Its metrics do not say which version an alias has called."""
    status, headers, _ = answer
    failed = status >= 500 or "X-Amz-Function-Error" in headers
    dimensions = {"FunctionName": name, "Resource": f"{name}:{alias}", "ExecutedVersion": version}
    cloudwatch.record_metric("AWS/Lambda", "Invocations", 1, "Count", dimensions)
    cloudwatch.record_metric("AWS/Lambda", "Errors", int(failed), "Count", dimensions)


lambda_svc._invoke = invoke_by_weight
lambda_svc._effective_func_record_for_qualifier = lambda func, qualifier: record_of_qualifier(
    func, version_by_weight(func, qualifier)
)


# It would refuse a whole template for resources that it does not know. It neither rotates
# secrets nor filters requests or traces, moves aliases at once, costs nothing, and has no public addresses.
for unknown, attributes in {
    "AWS::ApplicationAutoScaling::ScalableTarget": {},
    "AWS::Backup::BackupSelection": {},
    "AWS::Budgets::Budget": {},
    "AWS::CloudWatch::CompositeAlarm": {},
    "AWS::CodeDeploy::Application": {},
    "AWS::CodeDeploy::DeploymentGroup": {},
    "AWS::Cognito::ManagedLoginBranding": {},
    "AWS::EC2::EIP": {"AllocationId": "eipalloc-0", "PublicIp": "192.0.2.1"},
    "AWS::EC2::FlowLog": {},
    "AWS::EC2::NatGateway": {"NatGatewayId": "nat-0"},
    "AWS::SecretsManager::RotationSchedule": {},
    "AWS::WAFv2::WebACLAssociation": {},
    "AWS::XRay::SamplingRule": {},
}.items():
    provisioners._RESOURCE_HANDLERS[unknown] = {
        "create": lambda logical_id, _props, _stack_name, attributes=attributes: (logical_id, attributes),
        "delete": lambda _physical_id, _props: None,
    }


# It computes no alarms of several metrics: here they have none, and are never raised.
record_of_alarm = provisioners._cw_metric_alarm_record


def record_without_expressions(name, props):
    if props.get("Metrics"):
        kept = {key: value for key, value in props.items() if key != "Metrics"}
        props = {**kept, "Namespace": "Local", "MetricName": "Expression", "Statistic": "Sum", "Period": 300}
    return record_of_alarm(name, props)


provisioners._cw_metric_alarm_record = record_without_expressions


def replicate_key(_logical_id, props, _stack_name):
    """It has replicas of keys, but no resources of them."""
    primary, here = props["PrimaryKeyArn"], responses.get_region()
    parts = primary.split(":")
    with responses.request_scope(parts[4], parts[3]):
        status, _headers, body = kms._replicate_key({"KeyId": primary, "ReplicaRegion": here})
    if status != 200:
        raise ValueError(body)
    return parts[5].removeprefix("key/"), {
        "Arn": ":".join([*parts[:3], here, *parts[4:]]),
        "KeyId": parts[5].removeprefix("key/"),
    }


provisioners._RESOURCE_HANDLERS["AWS::KMS::ReplicaKey"] = {
    "create": replicate_key,
    "delete": lambda _physical_id, _props: None,
}


# It cannot make the replica of a secret one of its own.
handle_secrets = secretsmanager.handle_request


async def handle_replicas(method, path, headers, body, query_params):
    if not headers.get("x-amz-target", "").endswith(".StopReplicationToReplica"):
        return await handle_secrets(method, path, headers, body, query_params)
    _, secret = secretsmanager._resolve(json.loads(body)["SecretId"])
    for of_replica in ("_PrimarySecretArn", "_PrimaryRegion"):
        secret.pop(of_replica, None)
    return responses.json_response({"ARN": secret["ARN"]})


secretsmanager.handle_request = handle_replicas


# It sees no change where only outputs do. Here they belong to the first resource.
resolve_for_diff = changesets._resolve_props_for_diff


def resolve_with_outputs(template, *rest):
    resolved = resolve_for_diff(template, *rest)
    if resources := resolved.get("Resources"):
        resources[min(resources)]["Metadata"] = {"Outputs": template.get("Outputs")}
    return resolved


changesets._resolve_props_for_diff = resolve_with_outputs


# It revokes tokens by the API, but has no endpoint for it.
handle_cognito = app._handle_cognito_body_request


async def handle_revocation(method, path, headers, body, query_params):
    if path != "/oauth2/revoke" or method != "POST":
        return await handle_cognito(method, path, headers, body, query_params)
    cognito._revoke_token({"Token": parse_qs(body.decode()).get("token", [""])[0]})
    return 200, {}, b""


app._handle_cognito_body_request = handle_revocation


class Tee:
    """A function's output, also written to the functions' log as it comes."""

    log = open(os.environ["FUNCTIONS_LOG"], "a", buffering=1, encoding="utf-8")

    def __init__(self, stream, name):
        self.stream, self.name = stream, name

    def readline(self):
        line = self.stream.readline()
        if line:
            self.log.write(f"{self.name} {line.decode('utf-8', 'replace').rstrip()}\n")
        return line

    def close(self):
        self.stream.close()


pump_output = lambda_runtime.ProvidedWorker._pump_output
lambda_runtime.ProvidedWorker._pump_output = lambda self, stream, queue: pump_output(
    self, Tee(stream, self.func_name), queue
)

app.main()
